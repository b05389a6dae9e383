//! Tests with special requirements for the machine: other programs, permissions, features of a
//! kernel. Tests whose requirements are missing are ignored, and counted as such.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod archive;
mod emulated;
mod guide;
mod instructions;
mod live;
mod netem;
mod other_languages;
mod outside_world;
mod refused;
mod scan_loss;
mod scan_relay;
mod servers;
mod slurm;
#[path = "../support/mod.rs"]
mod support;
mod urls;

netbench_testing::tests! {
    archive::a_bare_root_is_enough: UserMounts;
    archive::the_same_programs_give_the_same_archive;
    archive::the_recipes_for_continuous_integration_work: UserNamespaces;
    emulated::one_seed_gives_one_order_and_the_same_losses: UserNamespaces;
    emulated::both_stacks_meet_the_same_losses: UserNamespaces;
    emulated::an_ordinary_user_can_do_it: Root;
    emulated::a_full_disk_is_said_and_what_was_measured_is_kept: UserMounts;
    guide::the_commands_of_the_guide_work: Go, UserNamespaces;
    guide::the_command_of_the_protocol_works: Python, UserNamespaces;
    guide::files_that_the_guides_name_exist;
    instructions::instructions_are_the_same_twice: Valgrind;
    live::openssl_s_server: OpensslCommand;
    live::nginx_clean_and_resumed: Nginx;
    live::a_name_that_does_not_resolve_is_a_failure_of_its_own;
    netem::netem_emulates_the_sites: EmulatedMachine;
    other_languages::go_and_rust_connect_to_each_other: Go;
    other_languages::go_does_the_suite_beside_rust: Go;
    other_languages::a_worker_in_python_is_believed_where_packets_agree: Python, UserNamespaces;
    other_languages::a_worker_that_is_a_client_alone_passes_its_checks: Python;
    outside_world::names_and_addresses_of_the_outside_world_are_met: Nginx, Root, UserMounts;
    outside_world::the_outside_world_is_scanned_and_recorded: Nginx, Root, UserMounts;
    refused::a_container_that_refuses_namespaces_gets_no_verdict_on_a_network: Seccomp;
    refused::namespaces_that_are_switched_off_are_said_to_be: NamespaceLimits;
    scan_loss::losses_of_old_servers_have_their_reasons_and_what_handshakes_show_counts: OpensslCommand;
    scan_loss::a_server_of_this_machine_is_recorded_under_a_name_that_is_emulated: OpensslCommand;
    scan_relay::a_connection_that_is_cut_while_confirming_is_no_loss: OpensslCommand;
    scan_relay::a_site_gets_no_more_than_its_time_and_keeps_no_other_waiting: OpensslCommand;
    urls::a_server_that_asks_for_a_certificate_gets_it: OpensslCommand;
    urls::paths_headers_and_ipv6_reach_nginx: Nginx;
    urls::a_name_can_be_led_to_a_server_of_this_machine: OpensslCommand;
    urls::an_evaluation_takes_urls_and_an_internal_ca: OpensslCommand;
    urls::an_internal_ca_that_is_not_given_is_named_as_the_cause: OpensslCommand;
    urls::a_hello_is_shown_as_a_host_would_get_it;
    slurm::a_slurm_array_takes_all_sites_and_merges: Slurm;
}
