"""The experiments of LongMemEval (ICLR 2025), each as one command. An experiment has cells with
servers of their own over one memory, and a page with our figures beside the published ones."""
