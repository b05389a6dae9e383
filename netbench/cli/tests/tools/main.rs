//! Tests that need more of the machine than every machine has: other programs, permissions, a kernel's
//! features. Where one is missing, they are ignored and counted so.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod archive;
mod emulated;
mod instructions;
mod live;
mod netem;
mod scan_loss;
mod slurm;
#[path = "../support/mod.rs"]
mod support;

netbench_testing::tests! {
    archive::a_bare_root_is_enough: UserMounts;
    archive::the_same_programs_give_the_same_archive;
    archive::the_recipes_for_continuous_integration_work: UserNamespaces;
    emulated::one_seed_gives_one_order_and_the_same_losses: UserNamespaces;
    emulated::an_ordinary_user_can_do_it: Root;
    emulated::a_full_disk_is_said_and_what_was_measured_is_kept: UserMounts;
    instructions::instructions_are_the_same_twice: Valgrind;
    live::openssl_s_server: OpensslCommand;
    live::nginx_clean_and_resumed: Nginx;
    live::a_name_that_does_not_resolve_is_a_failure_of_its_own;
    netem::netem_emulates_the_sites: EmulatedMachine;
    scan_loss::losses_of_old_servers_have_their_reasons_and_what_handshakes_show_counts: OpensslCommand;
    slurm::a_slurm_array_takes_all_sites_and_merges: Slurm;
}
