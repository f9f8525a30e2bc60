/*
 * Loaded into a client with LD_PRELOAD: connections to the local port REDIRECT_FROM go to the local port REDIRECT_TO. A client of
 * Kafka connects to where the broker says that it is, whatever address it was given.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int connect(int descriptor, const struct sockaddr *address, socklen_t length)
{
    int (*connect_to)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    struct sockaddr_in redirect;

    if (address->sa_family == AF_INET && length == sizeof redirect) {
        memcpy(&redirect, address, sizeof redirect);
        if (ntohs(redirect.sin_port) == atoi(getenv("REDIRECT_FROM"))) {
            redirect.sin_port = htons(atoi(getenv("REDIRECT_TO")));
        }
        return connect_to(descriptor, (struct sockaddr *) &redirect, length);
    }
    return connect_to(descriptor, address, length);
}
