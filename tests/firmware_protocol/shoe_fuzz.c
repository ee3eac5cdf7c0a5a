/* Feeds a script from standard input to the C device: action, size, bytes, and so on. Prints how many frames it sent.
 * The nonces are those of the golden welcome, so that some of the mutated vectors bring the link up. */

#include "shoe_protocol.h"

#include <stdio.h>
#include <string.h>

static unsigned long sent;

static void send(void *context, const uint8_t *data, size_t size)
{
    (void)context;
    sent += size > 0 && data[0] == 0 && data[size - 1] == 0;
}

static void nonce(void *context, uint8_t out[SHOE_NONCE_BYTES])
{
    int i;
    (void)context;
    for (i = 0; i < SHOE_NONCE_BYTES; i++) {
        out[i] = (uint8_t)(0xA0 + i);
    }
}

static uint32_t new_session(void *context)
{
    static uint32_t session = 0x1A2B3C4C;
    (void)context;
    return session++ % 3 ? session : 0x1A2B3C4D;
}

static void command(void *context, const shoe_host_message_t *message)
{
    shoe_link_answer((shoe_link_t *)context, message->command_id, SHOE_DONE);
}

static void host(void *context, enum shoe_host_event event, uint8_t verdict)
{
    (void)context;
    (void)event;
    (void)verdict;
}

int main(void)
{
    static const shoe_port_t port = {send, nonce, new_session, NULL, command, host};
    static const shoe_identity_t identity = {SHOE_RFID, "FUZZ", "1", {0}, 0, 40};
    static shoe_memory_t memory;
    static shoe_link_t link;
    uint8_t data[256];
    uint64_t now = 0;
    int action;
    int size;
    shoe_memory_init(&memory, 0x1A2B3C4D);
    memory.first = 17; /* as in the golden hello */
    if (!shoe_link_init(&link, &identity, &memory, &port, &link, NULL, 0, false)) {
        return 2;
    }
    shoe_link_connected(&link, now);
    while ((action = getchar()) != EOF && (size = getchar()) != EOF) {
        if (fread(data, 1, (size_t)size, stdin) != (size_t)size) {
            break;
        }
        now += (uint64_t)size;
        if (action == 0 && size > 30) {
            shoe_link_report(&link, SHOE_CARD_DRAWN, data, (size_t)size < SHOE_MAX_CONTENT ? (size_t)size : 20, now);
        }
        shoe_link_receive(&link, data, (size_t)size, now);
        shoe_link_tick(&link, now);
    }
    printf("%lu\n", sent);
    return 0;
}
