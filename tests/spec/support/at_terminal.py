"""Runs a command at a pseudo-terminal: at_terminal.py STEP... -- COMMAND...; prints all that the terminal showed.

A step is EXPECTED=KEYS: once EXPECTED has appeared (after what the last step waited for), KEYS are typed; both with
Python's backslash escapes. Exits with the command's status, or 99 when something expected does not come in 20 s.
"""

import os
import pty
import select
import sys
import time


def unescape(text):
    return text.encode().decode("unicode_escape").encode("latin-1")


def main():
    cut = sys.argv.index("--")
    steps = [tuple(map(unescape, step.split("=", 1))) for step in sys.argv[1:cut]]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[cut + 1], sys.argv[cut + 1 :])
    shown, waited, deadline = b"", 0, time.time() + 20
    while True:
        if not select.select([terminal], [], [], max(0, deadline - time.time()))[0]:
            os.write(1, shown + b"\n(expected in vain: %r)\n" % (steps[:1],))
            sys.exit(99)
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the command has closed the terminal
            part = b""
        if not part:
            break
        shown += part
        while steps and steps[0][0] in shown[waited:]:
            expected, keys = steps.pop(0)
            waited = shown.index(expected, waited) + len(expected)
            time.sleep(0.1)  # the command prints its prompt before it reads
            os.write(terminal, keys)
    os.write(1, shown)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


main()
