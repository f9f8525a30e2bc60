/*
 * Loaded into a collector with LD_PRELOAD: writes a line to a file at the worst moment, after the collector has read
 * the file to its end and before it is notified of changes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

int inotify_add_watch(int notified, const char *name, uint32_t mask)
{
    static const char line[] = "late\n";
    int (*watch)(int, const char *, uint32_t) = dlsym(RTLD_NEXT, "inotify_add_watch");
    int file = open(name, O_WRONLY | O_APPEND | O_CLOEXEC);

    if (file == -1 || write(file, line, sizeof line - 1) != sizeof line - 1 || close(file) == -1) {
        _exit(70);
    }
    return watch(notified, name, mask);
}
