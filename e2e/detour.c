/*
 * Loaded into a client with LD_PRELOAD: connections to the local port DETOUR_FROM go to the local port DETOUR_TO. A client of
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
    struct sockaddr_in detour;

    if (address->sa_family == AF_INET && length == sizeof detour) {
        memcpy(&detour, address, sizeof detour);
        if (ntohs(detour.sin_port) == atoi(getenv("DETOUR_FROM"))) {
            detour.sin_port = htons(atoi(getenv("DETOUR_TO")));
        }
        return connect_to(descriptor, (struct sockaddr *) &detour, length);
    }
    return connect_to(descriptor, address, length);
}
