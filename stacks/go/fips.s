// With a file in assembly, the compiler accepts functions that have no body here: see approvedChains.
