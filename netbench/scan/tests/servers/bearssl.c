/* A server of BearSSL: ADDRESS's port, the leaf, its issuer, the key (all DER), the oldest and the newest version. */
#include <arpa/inet.h>
#include <bearssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static unsigned char *contents(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(65536);
    if (!file || !bytes) exit(2);
    *length = fread(bytes, 1, 65536, file);
    fclose(file);
    return bytes;
}

static int receive(void *to, unsigned char *bytes, size_t length) {
    ssize_t count = read(*(int *)to, bytes, length);
    return count > 0 ? (int)count : -1;
}

static int transmit(void *to, const unsigned char *bytes, size_t length) {
    ssize_t count = write(*(int *)to, bytes, length);
    return count > 0 ? (int)count : -1;
}

int main(int count, char **words) {
    if (count != 7) return 2;
    br_x509_certificate chain[2];
    for (int i = 0; i < 2; i++) chain[i].data = contents(words[2 + i], &chain[i].data_len);
    size_t length;
    unsigned char *bytes = contents(words[4], &length);
    static br_skey_decoder_context decoder;
    br_skey_decoder_init(&decoder);
    br_skey_decoder_push(&decoder, bytes, length);
    const br_rsa_private_key *rsa = br_skey_decoder_get_rsa(&decoder);
    const br_ec_private_key *ec = br_skey_decoder_get_ec(&decoder);
    if (!rsa && !ec) return 3;

    signal(SIGPIPE, SIG_IGN);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(words[1])) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 128)) return 4;
    for (;;) {
        int client = accept(listener, NULL, NULL);
        if (client < 0) continue;
        static br_ssl_server_context server;
        static unsigned char buffer[BR_SSL_BUFSIZE_BIDI];
        static br_sslio_context io;
        struct timeval limit = { .tv_sec = 5 };
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        if (rsa) br_ssl_server_init_full_rsa(&server, chain, 2, rsa);
        else br_ssl_server_init_full_ec(&server, chain, 2, BR_KEYTYPE_EC, ec);
        br_ssl_engine_set_versions(&server.eng, strtol(words[5], NULL, 16), strtol(words[6], NULL, 16));
        br_ssl_engine_set_buffer(&server.eng, buffer, sizeof buffer, 1);
        br_ssl_server_reset(&server);
        br_sslio_init(&io, &server.eng, receive, &client, transmit, &client);
        static const char answer[] = "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx";
        char request;
        if (br_sslio_read(&io, &request, 1) == 1) {
            br_sslio_write_all(&io, answer, sizeof answer - 1);
            br_sslio_flush(&io);
        }
        close(client);
    }
}
