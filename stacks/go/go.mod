module netbench-worker-go

go 1.26.0
