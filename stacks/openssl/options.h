#include <openssl/opensslconf.h>
