"""reviewbot finds tests that do not test, and proves it by running them."""

import os.path

__version__ = "0.1.0"

# In a wheel rules/ and templates/ lie inside this package; in a checkout they lie beside it.
_here = os.path.dirname(os.path.abspath(__file__))
if not os.path.isdir(os.path.join(_here, "rules")):
    __path__.append(os.path.dirname(_here))
