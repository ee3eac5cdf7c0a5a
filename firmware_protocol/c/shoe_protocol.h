/* Open shoe protocol, version 1.0: reference of the device side in C99.
 *
 * PROTOCOL.md is the norm and gives the reasons; this file and shoe_protocol.c are one way to follow it that passes the
 * golden vectors. No dynamic memory, no libc but string.h, no clock and no I/O of its own: the firmware passes the
 * time in and gives functions in a shoe_port_t.
 *
 * One link is used from one context (main loop or one task). An interrupt may collect received bytes in a queue of the
 * firmware's own; shoe_link_receive is then called from the main loop.
 */
#ifndef SHOE_PROTOCOL_H
#define SHOE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- limits (PROTOCOL.md derives each) ------------------------------------------------------------------------- */

#define SHOE_MAJOR 1
#define SHOE_MINOR 0

#define SHOE_CHECK_BYTES 5
#define SHOE_MAX_BETWEEN 255                                    /* bytes between two delimiters */
#define SHOE_MAX_STUFFED (SHOE_MAX_BETWEEN - SHOE_CHECK_BYTES)  /* 250 */
#define SHOE_MAX_BODY (SHOE_MAX_STUFFED - 1)                    /* 249 */
#define SHOE_MAX_WIRE (SHOE_MAX_BETWEEN + 2)                    /* with both delimiters */

#define SHOE_SEAL_BYTES 8
#define SHOE_NONCE_BYTES 16
#define SHOE_MIN_KEY_BYTES 16
#define SHOE_MAX_TEXT 32
#define SHOE_MAX_CARD_BYTES 36
#define SHOE_MAX_TOGETHER 6
#define SHOE_MAX_CONTENT (2 + SHOE_MAX_TOGETHER * SHOE_MAX_CARD_BYTES) /* 218: the largest event */

#ifndef SHOE_MEMORY_BYTES
#define SHOE_MEMORY_BYTES 25600 /* 650 of the largest cards take 24,700 */
#endif
#define SHOE_OVERFLOW_RECORD 7
#define SHOE_FEEDING_CARDS 8
#define SHOE_FEEDING_ROOM (SHOE_FEEDING_CARDS * (SHOE_MAX_CARD_BYTES + 2))
#define SHOE_MAX_NUMBER UINT32_C(0xFFFFFFFE)
#define SHOE_SESSION_TAIL UINT32_C(0x10000)
#define SHOE_WINDOW 8

/* --- times in milliseconds ----------------------------------------------------------------------------------- */

#define SHOE_ANNOUNCE_MS 1000
#define SHOE_HEARTBEAT_MS 1000
#define SHOE_RESEND_FIRST_MS 300
#define SHOE_RESEND_LONGEST_MS 2400
#define SHOE_REFUSED_RETRY_MS 5000
#define SHOE_SILENCE_MS 5000
#define SHOE_NEVER UINT64_MAX

/* --- code numbers ---------------------------------------------------------------------------------------------- */

#define SHOE_FROM_HOST 0x80
#define SHOE_SEALED 0x40

enum shoe_kind {
    SHOE_HELLO = 0x01,
    SHOE_HEARTBEAT = 0x02,
    SHOE_ANSWER = 0x03,
    SHOE_CARD_DRAWN = 0x10,
    SHOE_CARDS_TOGETHER = 0x11,
    SHOE_CARD_RETURNED = 0x12,
    SHOE_UNREADABLE = 0x13,
    SHOE_CUT_CARD = 0x14,
    SHOE_EMPTY = 0x15,
    SHOE_LID = 0x16,
    SHOE_JAM = 0x17,
    SHOE_SENSOR_FAULT = 0x18,
    SHOE_TAMPER = 0x19,
    SHOE_OVERFLOW = 0x1A,
    SHOE_SELF_TEST_DONE = 0x1B,
    SHOE_STARTED = 0x1C,
    SHOE_FOREIGN = 0x1D,
    SHOE_QUERY = 0x81,
    SHOE_WELCOME = 0x82,
    SHOE_ACK = 0x83,
    SHOE_REPLAY = 0x84,
    SHOE_GATE = 0x90,
    SHOE_LAMP = 0x91,
    SHOE_SET_TIME = 0x92,
    SHOE_SELF_TEST = 0x93,
    SHOE_IDENTIFY = 0x94,
    SHOE_REBOOT = 0x95
};

enum shoe_device_kind { SHOE_RFID = 1, SHOE_OPTICAL = 2, SHOE_HYBRID = 3 };

enum shoe_hello_flag { SHOE_FRESH = 1, SHOE_OVERFLOWED = 2, SHOE_HAS_KEY = 4, SHOE_REQUIRES_KEY = 8 };

enum shoe_beat_flag { SHOE_BEAT_GATE_OPEN = 1, SHOE_BEAT_LID_OPEN = 2, SHOE_BEAT_OVERFLOWED = 4 };

enum shoe_verdict {
    SHOE_ACCEPTED = 0,
    SHOE_OTHER_VERSION = 1,
    SHOE_KEY_REQUIRED = 2,
    SHOE_WRONG_KEY = 3,
    SHOE_SESSION_TAKEN = 4
};

enum shoe_status {
    SHOE_DONE = 0,
    SHOE_NOT_SUPPORTED = 1,
    SHOE_BAD_ARGUMENT = 2,
    SHOE_BUSY = 3,
    SHOE_FAILED = 4,
    SHOE_SUPERSEDED = 5,
    SHOE_NO_ROOM = 6
};

/* Why something that arrived was not used. SHOE_USED means that it was. */
enum shoe_drop {
    SHOE_USED = 0,
    SHOE_DROP_OVERSIZED,
    SHOE_DROP_TOO_SHORT,
    SHOE_DROP_BAD_CRC,
    SHOE_DROP_BAD_STUFFING,
    SHOE_DROP_MALFORMED,
    SHOE_DROP_UNKNOWN_TYPE,
    SHOE_DROP_WRONG_DIRECTION,
    SHOE_DROP_BAD_SEAL,
    SHOE_DROP_NOT_SEALED,
    SHOE_DROP_OUT_OF_PLACE,
    SHOE_DROP_STALE,
    SHOE_DROP_DUPLICATE,
    SHOE_DROP_COUNT
};

/* --- frames ------------------------------------------------------------------------------------------------------ */

uint32_t shoe_crc32(const uint8_t *data, size_t size);

/* Stuffs a body of 1 to SHOE_MAX_BODY bytes; gives size + 1. */
size_t shoe_stuff(const uint8_t *body, size_t size, uint8_t *out);

/* Un-stuffs in place: the body is then at data + 1. Gives its size, or 0 if the bytes are no COBS. */
size_t shoe_unstuff(uint8_t *data, size_t size);

/* Gives the wire bytes of a body, both delimiters included (size + 8); 0 if the body does not fit. */
size_t shoe_encode_frame(const uint8_t *body, size_t size, uint8_t out[SHOE_MAX_WIRE]);

typedef struct {
    uint8_t buffer[SHOE_MAX_BETWEEN];
    uint8_t held;
    bool skipping;
    const uint8_t *body; /* of the frame that was just completed; valid until the next byte */
    uint8_t body_size;
} shoe_decoder_t;

void shoe_decoder_init(shoe_decoder_t *decoder);

/* Takes one byte. True: a frame is complete, in `body`. Otherwise *drop tells if and why something was dropped. */
bool shoe_decoder_push(shoe_decoder_t *decoder, uint8_t byte, enum shoe_drop *drop);

/* --- keys and seals ---------------------------------------------------------------------------------------------- */

void shoe_sha256(const uint8_t *data, size_t size, uint8_t digest[32]);
void shoe_hmac(const uint8_t *key, size_t key_size, const uint8_t *data, size_t size, uint8_t digest[32]);
void shoe_greeting_key(const uint8_t *key, size_t key_size, uint8_t out[32]);
void shoe_link_key(const uint8_t *key, size_t key_size, const uint8_t host_nonce[SHOE_NONCE_BYTES],
                   const uint8_t device_nonce[SHOE_NONCE_BYTES], uint8_t out[32]);

/* Seals a body in place: there must be room for SHOE_SEAL_BYTES more. Gives the new size. */
size_t shoe_seal(uint8_t *body, size_t size, const uint8_t key[32]);

/* Opens a sealed body in place. Gives the size without the seal, or 0 if it is not sealed with this key. */
size_t shoe_unseal(uint8_t *body, size_t size, const uint8_t key[32]);

/* --- messages that a device writes ------------------------------------------------------------------------------- */

typedef struct {
    uint8_t uid_size; /* 0 or 4 to 10 */
    uint8_t uid[10];
    bool has_code; /* rank, suit and deck_set (0: not known) */
    char rank;
    char suit;
    uint32_t deck_set;
    bool has_entry;
    uint64_t entry_us;
    bool has_exit;
    uint64_t exit_us;
    bool has_confidence;
    uint8_t confidence;
    uint16_t flags;
} shoe_card_t;

/* Each writes the content of an event and gives its size; 0 if the values have no form on the wire. Events without
 * content (cut card, empty, started) need none of these. `out` has room for SHOE_MAX_CONTENT bytes. */
size_t shoe_put_card(uint8_t *out, const shoe_card_t *card);
size_t shoe_put_together(uint8_t *out, const shoe_card_t *cards, uint8_t count, bool order_known);
size_t shoe_put_returned(uint8_t *out, const shoe_card_t *card); /* NULL: not known which */
size_t shoe_put_unreadable(uint8_t *out, const uint64_t *entry_us, const uint64_t *exit_us); /* NULL: not known */
size_t shoe_put_lid(uint8_t *out, bool is_open);
size_t shoe_put_fault(uint8_t *out, bool active, uint32_t detail);
size_t shoe_put_self_test_done(uint8_t *out, uint32_t failed);
size_t shoe_put_foreign(uint8_t *out, const uint8_t *uid, uint8_t uid_size);

typedef struct {
    uint8_t kind; /* enum shoe_device_kind */
    const char *serial_number;    /* 1 to SHOE_MAX_TEXT printable ASCII characters */
    const char *firmware_version; /* as above */
    uint8_t firmware_sha256[32];
    uint32_t capabilities;
    uint16_t buffer_cards;
} shoe_identity_t;

typedef struct {
    uint32_t session;
    uint32_t first;
    uint32_t next;
    uint8_t flags;
    uint8_t host_nonce[SHOE_NONCE_BYTES];
    uint8_t device_nonce[SHOE_NONCE_BYTES];
} shoe_hello_t;

typedef struct {
    uint32_t session;
    uint32_t next;
    uint8_t flags;
    uint64_t uptime_ms;
    uint16_t buffered;
    uint32_t reads;
    uint32_t retries;
    uint32_t misses;
    uint32_t crc_errors;
} shoe_beat_t;

/* Each writes a body and gives its size; `out` has room for SHOE_MAX_BODY bytes. */
size_t shoe_write_hello(uint8_t *out, const shoe_identity_t *identity, const shoe_hello_t *hello);
size_t shoe_write_beat(uint8_t *out, const shoe_beat_t *beat);
size_t shoe_write_answer(uint8_t *out, uint32_t command_id, uint8_t status);
size_t shoe_write_event(uint8_t *out, uint8_t kind, uint32_t session, uint32_t number, const uint8_t *content,
                        size_t content_size);

/* --- messages that a device reads -------------------------------------------------------------------------------- */

typedef struct {
    uint8_t kind;
    /* query and welcome */
    uint8_t major;
    uint8_t minor;
    uint8_t query_flags;
    uint8_t verdict;
    uint8_t host_nonce[SHOE_NONCE_BYTES];
    uint8_t device_nonce[SHOE_NONCE_BYTES];
    /* welcome, ack and replay: `number` is resume, the last safe event, the first wanted event */
    uint32_t session;
    uint32_t number;
    /* commands */
    uint32_t command_id;
    bool gate_open;
    uint8_t lamp;
    uint8_t lamp_mode; /* 0 off, 1 on, 2 slow blink, 3 fast blink */
    uint8_t red;
    uint8_t green;
    uint8_t blue;
    uint8_t seconds; /* identify */
    uint64_t unix_us; /* set time */
} shoe_host_message_t;

/* Reads an unsealed body of the host. For an unknown command `command_id` is set and SHOE_DROP_UNKNOWN_TYPE given;
 * for a command with an impossible value likewise with SHOE_DROP_MALFORMED. Without an id, command_id is 0. */
enum shoe_drop shoe_read_host(const uint8_t *body, size_t size, shoe_host_message_t *message);

/* --- event memory: put it where it survives a power cut, if you can ------------------------------------------------- */

typedef struct {
    uint32_t session;
    uint32_t first; /* number of the oldest kept event */
    uint32_t lost;  /* events that found no room since the overflow began */
    uint32_t head;  /* offset of the oldest record */
    uint32_t used;  /* bytes in use */
    uint16_t count; /* kept events */
    bool fresh;
    bool overflowed;
    uint8_t ring[SHOE_MEMORY_BYTES]; /* records: size (of what follows), kind, content */
} shoe_memory_t;

/* Begins an empty memory: on the first start, and on every start of a device that keeps nothing. The session number
 * must be non-zero and random (PROTOCOL.md, "Sessions"). */
void shoe_memory_init(shoe_memory_t *memory, uint32_t session);
uint32_t shoe_memory_next(const shoe_memory_t *memory);
bool shoe_memory_may_feed(const shoe_memory_t *memory);
bool shoe_memory_add(shoe_memory_t *memory, uint8_t kind, const uint8_t *content, size_t size);

/* --- device link --------------------------------------------------------------------------------------------------- */

enum shoe_state { SHOE_CLOSED, SHOE_AWAY, SHOE_GREETING, SHOE_UP, SHOE_REFUSED };

enum shoe_host_event { SHOE_HOST_UP, SHOE_HOST_LOST, SHOE_HOST_REFUSED_US };

typedef struct {
    /* Queue bytes for the line. Called with one whole frame; must not call back into the link. */
    void (*send)(void *context, const uint8_t *data, size_t size);
    /* Fill in 16 bytes that were never used before and cannot be guessed. */
    void (*nonce)(void *context, uint8_t out[SHOE_NONCE_BYTES]);
    /* Give a session number that this device never had. */
    uint32_t (*new_session)(void *context);
    /* Make the memory safe: called after it has changed and before the bytes that follow from it. May be NULL for a
     * device that keeps nothing over a power cut, or whose memory is non-volatile itself. */
    void (*save)(void *context);
    /* Carry out a command, then call shoe_link_answer (here or soon after). */
    void (*command)(void *context, const shoe_host_message_t *command);
    /* The host came, went or refused us. Gone or refused: shut the gate. `verdict` is that of a refusal. */
    void (*host)(void *context, enum shoe_host_event event, uint8_t verdict);
} shoe_port_t;

typedef struct {
    const shoe_identity_t *identity;
    shoe_memory_t *memory;
    const shoe_port_t *port;
    void *context;
    const uint8_t *key; /* NULL: no key */
    size_t key_size;
    bool require_auth;

    /* For the heartbeat; the firmware sets them. */
    uint32_t reads;
    uint32_t retries;
    uint32_t misses;
    bool gate_open;
    bool lid_open;

    /* What follows is the link's own. */
    enum shoe_state state;
    bool authenticated;
    uint32_t drops[SHOE_DROP_COUNT];
    shoe_decoder_t decoder;
    bool dirty;
    bool host_has_key;
    uint8_t host_nonce[SHOE_NONCE_BYTES];
    uint8_t device_nonce[SHOE_NONCE_BYTES];
    uint8_t link_key[32];
    uint32_t cursor;
    uint32_t sent_up_to;
    uint32_t last_command;
    bool answered;
    uint8_t last_status;
    uint64_t hello_at;
    uint64_t beat_at;
    uint64_t resend_at;
    uint32_t resend_after;
    uint64_t heard;
} shoe_link_t;

/* Times are milliseconds since the device started; they never go back. `identity`, `memory`, `port` and `key` must
 * stay where they are. False: the identity or the key cannot be used. */
bool shoe_link_init(shoe_link_t *link, const shoe_identity_t *identity, shoe_memory_t *memory,
                    const shoe_port_t *port, void *context, const uint8_t *key, size_t key_size, bool require_auth);

void shoe_link_connected(shoe_link_t *link, uint64_t now); /* a plain serial port is connected from the start */
void shoe_link_disconnected(shoe_link_t *link);
void shoe_link_receive(shoe_link_t *link, const uint8_t *data, size_t size, uint64_t now);
void shoe_link_tick(shoe_link_t *link, uint64_t now); /* at shoe_link_deadline or more often */
uint64_t shoe_link_deadline(const shoe_link_t *link);

/* Keeps an event and sends it when it may be. False: there was no room and it is lost (the place is marked). */
bool shoe_link_report(shoe_link_t *link, uint8_t kind, const uint8_t *content, size_t size, uint64_t now);
void shoe_link_answer(shoe_link_t *link, uint32_t command_id, uint8_t status);

/* Whether a card may be let out now. While false, keep the gate shut and answer "open" with SHOE_NO_ROOM. */
bool shoe_link_may_feed(const shoe_link_t *link);

#ifdef __cplusplus
}
#endif

#endif
