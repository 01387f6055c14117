"""The experiments of LongMemEval (ICLR 2025), each by one command: cells with servers of their own
over one memory, and a page that sets our figures beside the published ones."""
