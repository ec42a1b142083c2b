"""Values that travel between the parts of the service, the error tree, time, and the integrity gate.

Every package may import every module here.
It must not know any other package of ours.
"""
