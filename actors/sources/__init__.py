"""The venues, a package each, with files of the same names: `kind`, `options`, `wire` and others.

Only the registry (`service/registry.py`) imports a venue's `kind`.
A venue knows `source_api` and `core`; it must not know another venue, a transport or an actor.
"""
