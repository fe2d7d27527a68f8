// The sockets at rank 0 by which bridges reach ranks.  A packet to a bridge has a byte
// in front, 'D': bytes of the agent follow, 'E': its wait status.

#ifndef TOOLS_MPI_SOCKET_H
#define TOOLS_MPI_SOCKET_H

// What a packet to a bridge is.
enum { SOCKET_BYTES = 'D', SOCKET_END = 'E' };

// Listen under a name of this host.  Returns the file, or -1.
int socket_listen(const char *name);

// Take a connection of a process of the same user.  Returns its file, or -1.
int socket_accept(int listener);

// Connect to a name.  Returns the file, or -1.
int socket_connect(const char *name);

#endif
