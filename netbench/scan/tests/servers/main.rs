//! Scans of servers that are not part of netbench: the scan must find their settings.
//!
//! Tests that need a missing program are ignored.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends with what is not as it should be"
)]

mod certificates;
mod endless;
mod fields;
mod fronts;
mod go;
mod haproxy;
mod heads;
mod hostile;
mod identity;
mod libraries;
mod limited;
mod more_fronts;
mod more_libraries;
mod names;
mod nginx;
mod nss;
mod openssl;
mod oracle;
mod programs;
mod rare_libraries;
mod replies;
mod scanners;
mod start_tls;
mod strict;
mod support;
mod twins;
mod workers;

netbench_testing::tests! {
    certificates::compressed_certificates_are_read;
    certificates::both_certificates_of_a_server_are_seen: OpensslCommand;
    endless::endless_answers_are_cut_and_said;
    endless::servers_that_change_their_mind_are_left_in_the_end;
    endless::choices_that_were_not_offered_end_the_enumeration;
    endless::nothing_of_a_server_reaches_a_result_unescaped;
    endless::what_was_found_is_kept_when_the_time_is_up;
    fields::heartbeats_are_asked_for: GnutlsServ, OpensslCommand;
    fields::tickets_of_a_server_with_dhe_alone_are_seen: GnutlsServ;
    fields::node_renegotiates_with_every_curve: Node;
    fields::a_request_for_a_certificate_that_cannot_be_read_is_unknown: OpensslCommand;
    fields::incomplete_answers_are_named;
    fronts::what_a_front_cannot_read_hides_nothing: Nginx;
    fronts::a_front_that_fails_at_tls_1_3_is_named: Nginx;
    fronts::a_group_that_is_refused_once_is_not_called_absent: Nginx;
    more_fronts::what_a_front_refuses_is_named_and_hides_nothing: Nginx;
    more_fronts::a_version_that_a_front_refuses_hides_no_other: Nginx;
    more_fronts::answers_are_read_however_they_arrive: Nginx;
    more_fronts::a_limit_before_a_server_without_alerts_does_not_mislead: Nginx;
    more_fronts::random_alerts_are_no_policy_of_the_server: Nginx;
    more_fronts::servers_chosen_by_the_hello_are_not_known_whole: Nginx;
    go::suites_agree_with_the_setting_one_by_one: Go;
    haproxy::what_haproxy_keeps_back_is_not_called_absent: Nginx, Haproxy;
    heads::a_server_that_never_answers_head_costs_one_short_wait: OpensslCommand;
    heads::the_head_of_a_slow_site_is_read: Nginx;
    hostile::what_is_not_tls_is_classed;
    hostile::those_that_speak_first_or_never_are_classed;
    hostile::messages_may_lie_in_records_anyhow;
    hostile::an_answer_that_breaks_off_is_as_good_as_its_server_hello;
    identity::what_follows_a_client_certificate_is_seen: OpensslCommand;
    libraries::wolfssl_is_enumerated: Lighttpd;
    libraries::mbedtls_is_enumerated: Lighttpd;
    libraries::gnutls_is_enumerated: GnutlsServ, Lighttpd;
    libraries::erlang_is_enumerated: Erl;
    more_libraries::openssl_is_enumerated: OpensslCommand;
    more_libraries::node_is_enumerated: Node;
    more_libraries::stunnel_is_enumerated: Stunnel;
    more_libraries::java_is_enumerated: Javac, OpensslCommand;
    more_libraries::bouncy_castle_is_enumerated: Javac, OpensslCommand, BouncyCastle;
    rare_libraries::nss_is_enumerated: Selfserv, OpensslCommand;
    rare_libraries::boringssl_is_enumerated: Boringssl;
    rare_libraries::boringssl_sends_its_ech_configurations: Boringssl;
    rare_libraries::caddy_is_enumerated: Caddy;
    rare_libraries::bearssl_is_enumerated: Bearssl;
    workers::workers_are_enumerated: Workers;
    limited::limits_of_connections_are_waited_for_or_said: Nginx;
    limited::limits_that_answer_are_no_policy_of_the_server: Nginx;
    twins::another_server_that_differs_by_its_certificate_alone_is_noticed: Nginx;
    twins::another_server_is_noticed_by_the_certificate_of_any_part: Nginx;
    twins::another_server_is_noticed_from_the_second_connection_on: Nginx;
    limited::no_kind_of_limit_misleads: Nginx;
    limited::a_server_that_refuses_without_an_alert_is_known_whole;
    limited::servers_that_do_not_agree_behind_one_address_are_not_known_whole: Nginx;
    limited::hellos_keep_to_the_rules: OpensslCommand;
    limited::the_curve_of_the_certificate_is_no_intolerance: OpensslCommand;
    names::dead_names_keep_no_other_waiting;
    names::every_address_of_a_name_is_tried;
    names::many_names_that_do_not_resolve_are_looked_up_at_a_time;
    names::silence_failure_and_absence_of_names_are_three_reasons;
    nginx::the_intermediate_set_takes_few_connections: Nginx, OpensslCommand;
    nginx::everything_about_nginx: Nginx;
    openssl::suites_agree_with_the_setting_one_by_one: OpensslCommand;
    openssl::groups_agree_with_the_setting_in_its_order: OpensslCommand;
    openssl::sizes_of_finite_fields_are_reported: OpensslCommand;
    openssl::features_agree_with_the_setting: OpensslCommand;
    openssl::signatures_and_chains_agree_with_the_certificate: OpensslCommand;
    openssl::two_certificates_hide_no_suite: OpensslCommand;
    scanners::a_divided_enumeration_costs_no_more_than_three_times_the_connections_of_nmap: Nginx, Lighttpd, Erl, Nmap;
    scanners::nmap_finds_the_same_suites: Nginx, OpensslCommand, Nmap;
    scanners::sslscan_finds_the_same_suites: Nginx, OpensslCommand, Sslscan;
    start_tls::postfix_is_enumerated: Postfix, Root;
    start_tls::dovecot_is_enumerated: Dovecot, Root;
    start_tls::dovecot_costs_no_more_than_three_times_the_connections_of_nmap: Dovecot, Root, Nmap;
    start_tls::slapd_is_enumerated: Slapd;
    start_tls::postgresql_is_enumerated: Postgres;
    start_tls::prosody_is_enumerated: Prosody;
    start_tls::a_server_that_refuses_is_named_with_its_words;
    strict::refused_groups_hide_no_suite_of_tls_1_3;
    strict::suites_with_pre_shared_keys_are_found_in_old_versions: OpensslCommand;
    strict::what_is_encrypted_is_read_where_ccm_is_chosen_first: OpensslCommand;
    strict::nss_resumes_and_renegotiates: OpensslCommand, Selfserv;
}
