"""The simulated shoe: a device twin for both protocols, on a real pty, with faults to order.

It ships with the product: `shoe-controller simulate` lets an integrator test against it, `demo` deals from it, and the
tests break tables with it. One number, the seed, reproduces a run.
"""
