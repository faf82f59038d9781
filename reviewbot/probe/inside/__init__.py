"""What runs inside the sandbox: the standard library and nothing else, so that it starts in any interpreter.

`boot` is loaded first, shuts the process in, and only then reads anything of the pull request.
"""
