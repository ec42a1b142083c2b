"""The venues, each a package with files of the same names: `kind`, `options`, `wire` and other files.

Only the registry (`service/registry.py`) imports a venue's `kind`. A venue may import `source_api` and
`core`, but not another venue, a transport or an actor.
"""
