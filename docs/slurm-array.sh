#!/bin/bash
# One shard of `netbench connect` for each task of a Slurm array. See docs/SHARDS.md.
#
#   sbatch --array=1-8 docs/slurm-array.sh --sites sites.txt --rounds 20
#
# Whatever follows the script goes to `netbench connect`. The seed must be the same for all tasks, so that it
# comes from the environment or from the number of the array job, which all tasks share.
#SBATCH --job-name=netbench
#SBATCH --array=1-3
#SBATCH --cpus-per-task=2
#SBATCH --output=netbench-%A-%a.log

set -euo pipefail

: "${SLURM_ARRAY_JOB_ID:?submit this script with sbatch, as an array}"
seed=${NETBENCH_SEED:-$SLURM_ARRAY_JOB_ID}
runs=${NETBENCH_RUNS:-runs-$SLURM_ARRAY_JOB_ID}

exec "${NETBENCH:-netbench}" connect --shard auto --seed "$seed" \
    --out "$runs" --name "shard-$SLURM_ARRAY_TASK_ID" "$@"
