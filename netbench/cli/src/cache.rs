//! Files that are kept between runs and can be made again.

pub(crate) use netbench_stacks::cache_folder as folder;
