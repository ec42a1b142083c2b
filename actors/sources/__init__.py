"""The venues, one package each with files named alike: `kind`, `options`, `wire` and what else it needs.

Only the registry (`service/registry.py`) imports a venue's `kind`.
A venue knows `source_api` and `core`; it must not know another venue, a transport or an actor.
"""
