// Sockets without a file: their names vanish with the process.

#define _GNU_SOURCE // struct ucred

#include "tools/mpi/socket.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAITING_MOST = 8 };

// Set `out` to the address of a name, and return its size.
static socklen_t address_of(const char *name, struct sockaddr_un *out)
{
    size_t n = strlen(name);
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    n = n < sizeof out->sun_path - 1 ? n : sizeof out->sun_path - 1;
    memcpy(out->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

// Return a socket, or -1.
static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

int socket_listen(const char *name)
{
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    int file = open_socket();
    if (file < 0)
        return -1;
    if (bind(file, (struct sockaddr *)&address, size) ||
        listen(file, WAITING_MOST)) {
        close(file);
        return -1;
    }
    return file;
}

int socket_accept(int listener)
{
    struct ucred who;
    socklen_t size = sizeof who;
    int file = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (file < 0)
        return -1;
    if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &who, &size) ||
        who.uid != geteuid()) {
        close(file);
        return -1;
    }
    return file;
}

int socket_connect(const char *name)
{
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    int file = open_socket();
    if (file >= 0 && connect(file, (struct sockaddr *)&address, size)) {
        close(file);
        return -1;
    }
    return file;
}
