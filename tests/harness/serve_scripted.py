"""The scripted assistant as a process: `serve_scripted.py --port P --data-dir D [--fail]`."""

import argparse
import signal
import sys
import threading

from scripted_assistant import ScriptedAssistant


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--fail", action="store_true")
    options = parser.parse_args()
    if options.fail:
        print("no embedder here", file=sys.stderr)
        sys.exit(3)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    assistant = ScriptedAssistant()
    assistant.port = options.port
    assistant.start()
    print(f"data in {options.data_dir}", flush=True)
    stop.wait()
    assistant.stop()
    print("stopped", flush=True)


if __name__ == "__main__":
    main()
