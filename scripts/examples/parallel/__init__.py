"""One sequence shared by several processes, for *Positions under context parallelism*.

shards.py     which tokens a process holds, and how many keys a causal mask leaves it
ring.py       attention in which keys go round the processes, with their positions
processes.py  the processes: `python -m scripts.examples.parallel.processes`
"""
