// Messages by MPI_Isend and MPI_Iprobe.

#include "tools/mpi/link.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, KIND = 0, SESSION = 1, WORDS = 2 };

// What is sent: kind and session, then bytes.
struct frame {
    uint32_t head[WORDS];
    char bytes[LINK_BYTES_MOST];
};

struct link_send {
    struct link_send *next;
    MPI_Request request;
    struct frame frame;
};

bool link_open(struct link *l)
{
    MPI_Comm host;
    *l = (struct link){0};
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return false;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &l->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &l->size);
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, l->rank,
                            MPI_INFO_NULL, &host) != MPI_SUCCESS)
        return false;
    MPI_Comm_rank(host, &l->local);
    return MPI_Comm_free(&host) == MPI_SUCCESS;
}

// Release what has been sent, and what cannot be.
static void forget_sent(struct link *l)
{
    for (struct link_send **at = &l->sends; *at;) {
        struct link_send *one = *at;
        int is_sent = 0;
        if (MPI_Test(&one->request, &is_sent, MPI_STATUS_IGNORE) ==
                MPI_SUCCESS &&
            !is_sent) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        free(one);
    }
}

void link_send(struct link *l, const struct link_message *m)
{
    struct link_send *one = malloc(sizeof *one);
    if (!one)
        abort();
    one->frame.head[KIND] = (uint32_t)m->kind;
    one->frame.head[SESSION] = m->session;
    memcpy(one->frame.bytes, m->bytes, m->n);
    int n = (int)(sizeof one->frame.head + m->n);
    if (MPI_Isend(&one->frame, n, MPI_BYTE, m->rank, TAG, MPI_COMM_WORLD,
                  &one->request) != MPI_SUCCESS) {
        free(one);
        return;
    }
    one->next = l->sends;
    l->sends = one;
}

void link_tell(struct link *l, int rank, enum link_kind kind, uint32_t session)
{
    struct link_message m = {.kind = kind, .rank = rank, .session = session};
    link_send(l, &m);
}

bool link_take(struct link *l, struct link_message *out)
{
    struct frame frame;
    MPI_Status status;
    int has_come = 0, n = 0;
    forget_sent(l);
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &has_come, &status) !=
            MPI_SUCCESS ||
        !has_come)
        return false;
    if (MPI_Recv(&frame, sizeof frame, MPI_BYTE, status.MPI_SOURCE, TAG,
                 MPI_COMM_WORLD, &status) != MPI_SUCCESS)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &n);
    *out = (struct link_message){.kind = (enum link_kind)frame.head[KIND],
                                 .rank = status.MPI_SOURCE,
                                 .session = frame.head[SESSION],
                                 .n = (size_t)n - sizeof frame.head};
    memcpy(out->bytes, frame.bytes, out->n);
    return true;
}

void link_close(struct link *l)
{
    while (l->sends)
        forget_sent(l);
    MPI_Finalize();
}
