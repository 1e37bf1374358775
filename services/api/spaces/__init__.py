"""Knowledge spaces over HTTP."""
