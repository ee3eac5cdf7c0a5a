/* Open shoe protocol, version 1.0: reference of the device side in C99. See shoe_protocol.h and PROTOCOL.md. */

#include "shoe_protocol.h"

#include <string.h>

/* --- little-endian fields ------------------------------------------------------------------------------------------ */

static size_t put_u16(uint8_t *out, uint16_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
    return 2;
}

static size_t put_u32(uint8_t *out, uint32_t value)
{
    put_u16(out, (uint16_t)value);
    put_u16(out + 2, (uint16_t)(value >> 16));
    return 4;
}

static size_t put_u64(uint8_t *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out + 4, (uint32_t)(value >> 32));
    return 8;
}

static uint32_t get_u32(const uint8_t *in)
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static uint64_t get_u64(const uint8_t *in)
{
    return (uint64_t)get_u32(in) | (uint64_t)get_u32(in + 4) << 32;
}

/* --- frames -------------------------------------------------------------------------------------------------------- */

/* CRC-32 of IEEE 802.3 by half bytes: 64 bytes of table instead of 1024. */
static const uint32_t crc_table[16] = {
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};

uint32_t shoe_crc32(const uint8_t *data, size_t size)
{
    uint32_t crc = UINT32_C(0xFFFFFFFF);
    size_t at;
    for (at = 0; at < size; at++) {
        crc = crc_table[(crc ^ data[at]) & 0x0F] ^ crc >> 4;
        crc = crc_table[(crc ^ (uint32_t)(data[at] >> 4)) & 0x0F] ^ crc >> 4;
    }
    return crc ^ UINT32_C(0xFFFFFFFF);
}

static void put_check(uint8_t *out, uint32_t crc)
{
    int place;
    for (place = 0; place < SHOE_CHECK_BYTES; place++) {
        out[place] = (uint8_t)(0x80 | (crc & 0x7F));
        crc >>= 7;
    }
}

size_t shoe_stuff(const uint8_t *body, size_t size, uint8_t *out)
{
    size_t code_at = 0;
    size_t at;
    for (at = 0; at < size; at++) {
        if (body[at] == 0) {
            out[code_at] = (uint8_t)(at + 1 - code_at);
            code_at = at + 1;
        } else {
            out[at + 1] = body[at];
        }
    }
    out[code_at] = (uint8_t)(size + 1 - code_at);
    return size + 1;
}

size_t shoe_unstuff(uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t distance = data[at];
        if (distance == 0) {
            return 0;
        }
        data[at] = 0;
        at += distance;
    }
    return at == size && size > 0 ? size - 1 : 0;
}

size_t shoe_encode_frame(const uint8_t *body, size_t size, uint8_t out[SHOE_MAX_WIRE])
{
    size_t stuffed;
    if (size < 1 || size > SHOE_MAX_BODY) {
        return 0;
    }
    out[0] = 0;
    stuffed = shoe_stuff(body, size, out + 1);
    put_check(out + 1 + stuffed, shoe_crc32(out + 1, stuffed));
    out[1 + stuffed + SHOE_CHECK_BYTES] = 0;
    return stuffed + SHOE_CHECK_BYTES + 2;
}

void shoe_decoder_init(shoe_decoder_t *decoder)
{
    memset(decoder, 0, sizeof *decoder);
}

static enum shoe_drop decode_between(shoe_decoder_t *decoder)
{
    uint8_t check[SHOE_CHECK_BYTES];
    size_t stuffed;
    size_t body;
    if (decoder->held < 2 + SHOE_CHECK_BYTES) {
        return SHOE_DROP_TOO_SHORT;
    }
    stuffed = (size_t)decoder->held - SHOE_CHECK_BYTES;
    put_check(check, shoe_crc32(decoder->buffer, stuffed));
    if (memcmp(check, decoder->buffer + stuffed, SHOE_CHECK_BYTES) != 0) {
        return SHOE_DROP_BAD_CRC;
    }
    body = shoe_unstuff(decoder->buffer, stuffed);
    if (body == 0) {
        return SHOE_DROP_BAD_STUFFING;
    }
    decoder->body = decoder->buffer + 1;
    decoder->body_size = (uint8_t)body;
    return SHOE_USED;
}

bool shoe_decoder_push(shoe_decoder_t *decoder, uint8_t byte, enum shoe_drop *drop)
{
    *drop = SHOE_USED;
    if (byte != 0) {
        if (decoder->skipping) {
            return false;
        }
        if (decoder->held == SHOE_MAX_BETWEEN) {
            decoder->held = 0;
            decoder->skipping = true;
            *drop = SHOE_DROP_OVERSIZED;
            return false;
        }
        decoder->buffer[decoder->held++] = byte;
        return false;
    }
    decoder->skipping = false;
    if (decoder->held == 0) {
        return false;
    }
    *drop = decode_between(decoder);
    decoder->held = 0;
    return *drop == SHOE_USED;
}

/* --- keys and seals ------------------------------------------------------------------------------------------------ */

typedef struct {
    uint32_t state[8];
    uint64_t size;
    uint8_t block[64];
} sha256_t;

static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t value, int bits)
{
    return value >> bits | value << (32 - bits);
}

static void sha256_block(sha256_t *sha)
{
    uint32_t w[64];
    uint32_t s[8];
    int i;
    for (i = 0; i < 16; i++) {
        const uint8_t *p = sha->block + 4 * i;
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
    }
    for (i = 16; i < 64; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, sha->state, sizeof s);
    for (i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_k[i] + w[i];
        uint32_t t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (i = 0; i < 8; i++) {
        sha->state[i] += s[i];
    }
}

static void sha256_begin(sha256_t *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, start, sizeof start);
    sha->size = 0;
}

static void sha256_add(sha256_t *sha, const uint8_t *data, size_t size)
{
    size_t at;
    for (at = 0; at < size; at++) {
        sha->block[sha->size++ % 64] = data[at];
        if (sha->size % 64 == 0) {
            sha256_block(sha);
        }
    }
}

static void sha256_end(sha256_t *sha, uint8_t digest[32])
{
    uint64_t bits = sha->size * 8;
    uint8_t end[8];
    uint8_t pad = 0x80;
    int i;
    sha256_add(sha, &pad, 1);
    pad = 0;
    while (sha->size % 64 != 56) {
        sha256_add(sha, &pad, 1);
    }
    for (i = 0; i < 8; i++) {
        end[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    sha256_add(sha, end, sizeof end);
    for (i = 0; i < 32; i++) {
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void shoe_sha256(const uint8_t *data, size_t size, uint8_t digest[32])
{
    sha256_t sha;
    sha256_begin(&sha);
    sha256_add(&sha, data, size);
    sha256_end(&sha, digest);
}

void shoe_hmac(const uint8_t *key, size_t key_size, const uint8_t *data, size_t size, uint8_t digest[32])
{
    sha256_t sha;
    uint8_t pad[64];
    int i;
    memset(pad, 0, sizeof pad);
    if (key_size > sizeof pad) {
        shoe_sha256(key, key_size, pad);
    } else {
        memcpy(pad, key, key_size);
    }
    for (i = 0; i < 64; i++) {
        pad[i] ^= 0x36;
    }
    sha256_begin(&sha);
    sha256_add(&sha, pad, sizeof pad);
    sha256_add(&sha, data, size);
    sha256_end(&sha, digest);
    for (i = 0; i < 64; i++) {
        pad[i] ^= 0x36 ^ 0x5C;
    }
    sha256_begin(&sha);
    sha256_add(&sha, pad, sizeof pad);
    sha256_add(&sha, digest, 32);
    sha256_end(&sha, digest);
}

static const uint8_t greeting_label[15] = {'s', 'h', 'o', 'e', ' ', 'g', 'r', 'e', 'e', 't', 'i', 'n', 'g', ' ', '1'};
static const uint8_t link_label[11] = {'s', 'h', 'o', 'e', ' ', 'l', 'i', 'n', 'k', ' ', '1'};

void shoe_greeting_key(const uint8_t *key, size_t key_size, uint8_t out[32])
{
    shoe_hmac(key, key_size, greeting_label, sizeof greeting_label, out);
}

void shoe_link_key(const uint8_t *key, size_t key_size, const uint8_t host_nonce[SHOE_NONCE_BYTES],
                   const uint8_t device_nonce[SHOE_NONCE_BYTES], uint8_t out[32])
{
    uint8_t data[sizeof link_label + 2 * SHOE_NONCE_BYTES];
    memcpy(data, link_label, sizeof link_label);
    memcpy(data + sizeof link_label, host_nonce, SHOE_NONCE_BYTES);
    memcpy(data + sizeof link_label + SHOE_NONCE_BYTES, device_nonce, SHOE_NONCE_BYTES);
    shoe_hmac(key, key_size, data, sizeof data, out);
}

size_t shoe_seal(uint8_t *body, size_t size, const uint8_t key[32])
{
    uint8_t digest[32];
    body[0] |= SHOE_SEALED;
    shoe_hmac(key, 32, body, size, digest);
    memcpy(body + size, digest, SHOE_SEAL_BYTES);
    return size + SHOE_SEAL_BYTES;
}

size_t shoe_unseal(uint8_t *body, size_t size, const uint8_t key[32])
{
    uint8_t digest[32];
    uint8_t difference = 0;
    int i;
    if (size <= SHOE_SEAL_BYTES || !(body[0] & SHOE_SEALED)) {
        return 0;
    }
    size -= SHOE_SEAL_BYTES;
    shoe_hmac(key, 32, body, size, digest);
    for (i = 0; i < SHOE_SEAL_BYTES; i++) { /* all of it, so that the time taken tells nothing */
        difference |= (uint8_t)(digest[i] ^ body[size + (size_t)i]);
    }
    if (difference) {
        return 0;
    }
    body[0] &= (uint8_t)~SHOE_SEALED;
    return size;
}

/* --- messages that a device writes --------------------------------------------------------------------------------- */

static bool is_one_of(char letter, const char *letters)
{
    while (*letters) {
        if (*letters++ == letter) {
            return true;
        }
    }
    return false;
}

size_t shoe_put_card(uint8_t *out, const shoe_card_t *card)
{
    size_t at = 1;
    uint8_t has = card->uid_size;
    if ((card->uid_size && (card->uid_size < 4 || card->uid_size > 10)) || (!card->uid_size && !card->has_code) ||
        (card->has_confidence && card->confidence > 100)) {
        return 0;
    }
    memcpy(out + at, card->uid, card->uid_size);
    at += card->uid_size;
    if (card->has_code) {
        if (!is_one_of(card->rank, "A23456789TJQKSLF") || !is_one_of(card->suit, "cdhsfgewa")) {
            return 0;
        }
        has |= 0x10;
        at += put_u32(out + at, card->deck_set);
        out[at++] = (uint8_t)card->rank;
        out[at++] = (uint8_t)card->suit;
    }
    if (card->has_entry) {
        has |= 0x20;
        at += put_u64(out + at, card->entry_us);
    }
    if (card->has_exit) {
        has |= 0x40;
        at += put_u64(out + at, card->exit_us);
    }
    if (card->has_confidence) {
        has |= 0x80;
        out[at++] = card->confidence;
    }
    at += put_u16(out + at, card->flags);
    out[0] = has;
    return at;
}

size_t shoe_put_together(uint8_t *out, const shoe_card_t *cards, uint8_t count, bool order_known)
{
    size_t at = 2;
    uint8_t index;
    if (count < 2 || count > SHOE_MAX_TOGETHER) {
        return 0;
    }
    out[0] = order_known ? 1 : 0;
    out[1] = count;
    for (index = 0; index < count; index++) {
        size_t size = shoe_put_card(out + at, &cards[index]);
        if (size == 0) {
            return 0;
        }
        at += size;
    }
    return at;
}

size_t shoe_put_returned(uint8_t *out, const shoe_card_t *card)
{
    size_t size;
    out[0] = card ? 1 : 0;
    if (!card) {
        return 1;
    }
    size = shoe_put_card(out + 1, card);
    return size ? size + 1 : 0;
}

size_t shoe_put_unreadable(uint8_t *out, const uint64_t *entry_us, const uint64_t *exit_us)
{
    size_t at = 1;
    out[0] = (uint8_t)((entry_us ? 1 : 0) | (exit_us ? 2 : 0));
    if (entry_us) {
        at += put_u64(out + at, *entry_us);
    }
    if (exit_us) {
        at += put_u64(out + at, *exit_us);
    }
    return at;
}

size_t shoe_put_lid(uint8_t *out, bool is_open)
{
    out[0] = is_open ? 1 : 0;
    return 1;
}

size_t shoe_put_fault(uint8_t *out, bool active, uint32_t detail)
{
    out[0] = active ? 1 : 0;
    return 1 + put_u32(out + 1, detail);
}

size_t shoe_put_self_test_done(uint8_t *out, uint32_t failed)
{
    return put_u32(out, failed);
}

size_t shoe_put_foreign(uint8_t *out, const uint8_t *uid, uint8_t uid_size)
{
    if (uid_size && (uid_size < 4 || uid_size > 10)) {
        return 0;
    }
    out[0] = uid_size;
    if (uid_size) {
        memcpy(out + 1, uid, uid_size);
    }
    return 1 + (size_t)uid_size;
}

static size_t text_size(const char *text)
{
    size_t size = 0;
    while (text && text[size]) {
        if (text[size] < 0x20 || text[size] > 0x7E || size == SHOE_MAX_TEXT) {
            return 0;
        }
        size++;
    }
    return size;
}

static size_t put_text(uint8_t *out, const char *text)
{
    size_t size = text_size(text);
    out[0] = (uint8_t)size;
    memcpy(out + 1, text, size);
    return size + 1;
}

size_t shoe_write_hello(uint8_t *out, const shoe_identity_t *identity, const shoe_hello_t *hello)
{
    size_t at = 0;
    out[at++] = SHOE_HELLO;
    out[at++] = SHOE_MAJOR;
    out[at++] = SHOE_MINOR;
    memcpy(out + at, hello->host_nonce, SHOE_NONCE_BYTES);
    at += SHOE_NONCE_BYTES;
    memcpy(out + at, hello->device_nonce, SHOE_NONCE_BYTES);
    at += SHOE_NONCE_BYTES;
    at += put_u32(out + at, hello->session);
    at += put_u32(out + at, hello->first);
    at += put_u32(out + at, hello->next);
    out[at++] = hello->flags;
    out[at++] = identity->kind;
    at += put_u32(out + at, identity->capabilities);
    at += put_u16(out + at, identity->buffer_cards);
    memcpy(out + at, identity->firmware_sha256, 32);
    at += 32;
    at += put_text(out + at, identity->serial_number);
    at += put_text(out + at, identity->firmware_version);
    return at;
}

size_t shoe_write_beat(uint8_t *out, const shoe_beat_t *beat)
{
    size_t at = 0;
    out[at++] = SHOE_HEARTBEAT;
    at += put_u32(out + at, beat->session);
    at += put_u32(out + at, beat->next);
    out[at++] = beat->flags;
    at += put_u64(out + at, beat->uptime_ms);
    at += put_u16(out + at, beat->buffered);
    at += put_u32(out + at, beat->reads);
    at += put_u32(out + at, beat->retries);
    at += put_u32(out + at, beat->misses);
    at += put_u32(out + at, beat->crc_errors);
    return at;
}

size_t shoe_write_answer(uint8_t *out, uint32_t command_id, uint8_t status)
{
    out[0] = SHOE_ANSWER;
    put_u32(out + 1, command_id);
    out[5] = status;
    return 6;
}

size_t shoe_write_event(uint8_t *out, uint8_t kind, uint32_t session, uint32_t number, const uint8_t *content,
                        size_t content_size)
{
    out[0] = kind;
    put_u32(out + 1, session);
    put_u32(out + 5, number);
    if (content_size) {
        memcpy(out + 9, content, content_size);
    }
    return 9 + content_size;
}

/* --- messages that a device reads ---------------------------------------------------------------------------------- */

static enum shoe_drop read_command(const uint8_t *body, size_t size, shoe_host_message_t *message)
{
    if (size < 5) {
        return SHOE_DROP_MALFORMED;
    }
    message->command_id = get_u32(body + 1);
    if (message->command_id == 0) {
        return SHOE_DROP_MALFORMED;
    }
    switch (body[0]) {
    case SHOE_GATE:
        if (size < 6 || body[5] > 1) {
            return SHOE_DROP_MALFORMED;
        }
        message->gate_open = body[5] == 1;
        return SHOE_USED;
    case SHOE_LAMP:
        if (size < 10 || body[6] > 3) {
            return SHOE_DROP_MALFORMED;
        }
        message->lamp = body[5];
        message->lamp_mode = body[6];
        message->red = body[7];
        message->green = body[8];
        message->blue = body[9];
        return SHOE_USED;
    case SHOE_SET_TIME:
        if (size < 13) {
            return SHOE_DROP_MALFORMED;
        }
        message->unix_us = get_u64(body + 5);
        return SHOE_USED;
    case SHOE_IDENTIFY:
        if (size < 6) {
            return SHOE_DROP_MALFORMED;
        }
        message->seconds = body[5];
        return SHOE_USED;
    case SHOE_SELF_TEST:
    case SHOE_REBOOT:
        return SHOE_USED;
    default:
        return SHOE_DROP_UNKNOWN_TYPE;
    }
}

static bool is_command(uint8_t kind)
{
    return kind >= 0x90 && kind < 0xB0;
}

enum shoe_drop shoe_read_host(const uint8_t *body, size_t size, shoe_host_message_t *message)
{
    memset(message, 0, sizeof *message);
    if (size < 1) {
        return SHOE_DROP_TOO_SHORT;
    }
    message->kind = body[0];
    if (!(body[0] & SHOE_FROM_HOST)) {
        return SHOE_DROP_WRONG_DIRECTION;
    }
    if (body[0] & SHOE_SEALED) {
        return SHOE_DROP_BAD_SEAL;
    }
    if (is_command(body[0])) {
        return read_command(body, size, message);
    }
    switch (body[0]) {
    case SHOE_QUERY:
        if (size < 20) {
            return SHOE_DROP_MALFORMED;
        }
        message->major = body[1];
        message->minor = body[2];
        memcpy(message->host_nonce, body + 3, SHOE_NONCE_BYTES);
        message->query_flags = body[19];
        return SHOE_USED;
    case SHOE_WELCOME:
        if (size < 44 || body[3] > SHOE_SESSION_TAKEN) {
            return SHOE_DROP_MALFORMED;
        }
        message->major = body[1];
        message->minor = body[2];
        message->verdict = body[3];
        memcpy(message->host_nonce, body + 4, SHOE_NONCE_BYTES);
        memcpy(message->device_nonce, body + 20, SHOE_NONCE_BYTES);
        message->session = get_u32(body + 36);
        message->number = get_u32(body + 40);
        return SHOE_USED;
    case SHOE_ACK:
    case SHOE_REPLAY:
        if (size < 9) {
            return SHOE_DROP_MALFORMED;
        }
        message->session = get_u32(body + 1);
        message->number = get_u32(body + 5);
        if (message->session == 0 || message->number > SHOE_MAX_NUMBER ||
            (body[0] == SHOE_REPLAY && message->number == 0)) {
            return SHOE_DROP_MALFORMED;
        }
        return SHOE_USED;
    default:
        return SHOE_DROP_UNKNOWN_TYPE;
    }
}

/* --- event memory -------------------------------------------------------------------------------------------------- */

void shoe_memory_init(shoe_memory_t *memory, uint32_t session)
{
    memset(memory, 0, sizeof *memory);
    memory->session = session;
    memory->first = 1;
    memory->fresh = true;
}

uint32_t shoe_memory_next(const shoe_memory_t *memory)
{
    return memory->first + memory->count;
}

/* The bytes that any event but the note of an overflow may take. */
static uint32_t room(const shoe_memory_t *memory)
{
    uint32_t taken = memory->used + SHOE_OVERFLOW_RECORD;
    return taken < SHOE_MEMORY_BYTES ? SHOE_MEMORY_BYTES - taken : 0;
}

bool shoe_memory_may_feed(const shoe_memory_t *memory)
{
    return !memory->overflowed && room(memory) >= SHOE_FEEDING_ROOM &&
           shoe_memory_next(memory) < SHOE_MAX_NUMBER - SHOE_FEEDING_CARDS;
}

static void append(shoe_memory_t *memory, uint8_t kind, const uint8_t *content, size_t size)
{
    uint32_t at = (memory->head + memory->used) % SHOE_MEMORY_BYTES;
    size_t index;
    memory->ring[at] = (uint8_t)(size + 1);
    at = (at + 1) % SHOE_MEMORY_BYTES;
    memory->ring[at] = kind;
    for (index = 0; index < size; index++) {
        at = (at + 1) % SHOE_MEMORY_BYTES;
        memory->ring[at] = content[index];
    }
    memory->used += (uint32_t)size + 2;
    memory->count++;
}

static void note_overflow(shoe_memory_t *memory, bool begins)
{
    uint8_t content[5];
    memory->overflowed = begins;
    append(memory, SHOE_OVERFLOW, content, shoe_put_fault(content, begins, begins ? 0 : memory->lost));
    if (!begins) {
        memory->lost = 0;
    }
}

bool shoe_memory_add(shoe_memory_t *memory, uint8_t kind, const uint8_t *content, size_t size)
{
    if (!memory->overflowed && size <= SHOE_MAX_CONTENT && size + 2 <= room(memory) &&
        shoe_memory_next(memory) < SHOE_MAX_NUMBER && memory->count < UINT16_MAX - 1) {
        append(memory, kind, content, size);
        return true;
    }
    if (!memory->overflowed) {
        note_overflow(memory, true);
    }
    if (memory->lost < UINT32_MAX) {
        memory->lost++;
    }
    return false;
}

static void end_overflow(shoe_memory_t *memory)
{
    if (memory->overflowed && room(memory) >= SHOE_FEEDING_ROOM && shoe_memory_next(memory) < SHOE_MAX_NUMBER) {
        note_overflow(memory, false);
    }
}

static void drop_before(shoe_memory_t *memory, uint32_t number)
{
    while (memory->count && memory->first < number) {
        uint32_t size = (uint32_t)memory->ring[memory->head] + 1;
        memory->head = (memory->head + size) % SHOE_MEMORY_BYTES;
        memory->used -= size;
        memory->count--;
        memory->first++;
    }
    end_overflow(memory);
}

/* --- device link: what goes out ------------------------------------------------------------------------------------ */

static const uint8_t no_nonce[SHOE_NONCE_BYTES];

static void send_body(shoe_link_t *link, uint8_t *body, size_t size, const uint8_t *seal_key)
{
    uint8_t wire[SHOE_MAX_WIRE];
    if (link->dirty) {
        link->dirty = false;
        if (link->port->save) {
            link->port->save(link->context);
        }
    }
    if (seal_key) {
        size = shoe_seal(body, size, seal_key);
    }
    size = shoe_encode_frame(body, size, wire);
    link->port->send(link->context, wire, size);
}

static void send_in_link(shoe_link_t *link, uint8_t *body, size_t size)
{
    send_body(link, body, size, link->authenticated ? link->link_key : NULL);
}

static bool is_greeting(const shoe_link_t *link)
{
    return link->state == SHOE_GREETING || link->state == SHOE_UP;
}

static bool is_sealing(const shoe_link_t *link)
{
    return link->key && link->host_has_key;
}

static void send_hello(shoe_link_t *link)
{
    uint8_t body[SHOE_MAX_BODY];
    uint8_t key[32];
    shoe_hello_t hello;
    size_t size;
    memset(&hello, 0, sizeof hello);
    hello.session = link->memory->session;
    hello.first = link->memory->first;
    hello.next = shoe_memory_next(link->memory);
    hello.flags = (uint8_t)((link->memory->fresh ? SHOE_FRESH : 0) |
                            (link->memory->overflowed ? SHOE_OVERFLOWED : 0) | (link->key ? SHOE_HAS_KEY : 0) |
                            (link->require_auth ? SHOE_REQUIRES_KEY : 0));
    if (is_greeting(link)) {
        memcpy(hello.host_nonce, link->host_nonce, SHOE_NONCE_BYTES);
        memcpy(hello.device_nonce, link->device_nonce, SHOE_NONCE_BYTES);
    }
    size = shoe_write_hello(body, link->identity, &hello);
    if (is_greeting(link) && is_sealing(link)) {
        shoe_greeting_key(link->key, link->key_size, key);
        send_body(link, body, size, key);
    } else {
        send_body(link, body, size, NULL);
    }
}

static void send_beat(shoe_link_t *link, uint64_t now)
{
    uint8_t body[SHOE_MAX_BODY];
    shoe_beat_t beat;
    link->beat_at = now + SHOE_HEARTBEAT_MS;
    beat.session = link->memory->session;
    beat.next = shoe_memory_next(link->memory);
    beat.flags = (uint8_t)((link->gate_open ? SHOE_BEAT_GATE_OPEN : 0) | (link->lid_open ? SHOE_BEAT_LID_OPEN : 0) |
                           (link->memory->overflowed ? SHOE_BEAT_OVERFLOWED : 0));
    beat.uptime_ms = now;
    beat.buffered = link->memory->count;
    beat.reads = link->reads;
    beat.retries = link->retries;
    beat.misses = link->misses;
    beat.crc_errors = link->drops[SHOE_DROP_OVERSIZED] + link->drops[SHOE_DROP_TOO_SHORT] +
                      link->drops[SHOE_DROP_BAD_CRC] + link->drops[SHOE_DROP_BAD_STUFFING];
    send_in_link(link, body, shoe_write_beat(body, &beat));
}

static void send_answer(shoe_link_t *link, uint32_t command_id, uint8_t status)
{
    uint8_t body[SHOE_MAX_BODY];
    send_in_link(link, body, shoe_write_answer(body, command_id, status));
}

static void send_event(shoe_link_t *link, uint32_t number)
{
    const shoe_memory_t *memory = link->memory;
    uint8_t body[SHOE_MAX_BODY];
    uint8_t content[SHOE_MAX_CONTENT];
    uint32_t at = memory->head;
    uint32_t before = number - memory->first;
    size_t size;
    size_t index;
    uint8_t kind;
    while (before--) { /* at most SHOE_WINDOW - 1 steps */
        at = (at + memory->ring[at] + 1) % SHOE_MEMORY_BYTES;
    }
    size = (size_t)memory->ring[at] - 1;
    at = (at + 1) % SHOE_MEMORY_BYTES;
    kind = memory->ring[at];
    for (index = 0; index < size && index < sizeof content; index++) {
        at = (at + 1) % SHOE_MEMORY_BYTES;
        content[index] = memory->ring[at];
    }
    send_in_link(link, body, shoe_write_event(body, kind, memory->session, number, content, index));
}

static void pump(shoe_link_t *link, uint64_t now)
{
    uint32_t end;
    if (link->state != SHOE_UP) {
        return;
    }
    end = link->memory->first + (link->memory->count < SHOE_WINDOW ? link->memory->count : SHOE_WINDOW);
    while (link->cursor < end) {
        send_event(link, link->cursor);
        link->cursor++;
        if (link->sent_up_to < link->cursor) {
            link->sent_up_to = link->cursor;
        }
        if (link->resend_at == SHOE_NEVER) {
            link->resend_at = now + link->resend_after;
        }
    }
}

/* --- device link: coming and going --------------------------------------------------------------------------------- */

static void leave(shoe_link_t *link, enum shoe_state state)
{
    bool was_up = link->state == SHOE_UP;
    link->state = state;
    link->authenticated = false;
    link->host_has_key = false;
    memset(link->link_key, 0, sizeof link->link_key);
    memset(link->host_nonce, 0, SHOE_NONCE_BYTES);
    memset(link->device_nonce, 0, SHOE_NONCE_BYTES);
    link->hello_at = link->beat_at = link->resend_at = SHOE_NEVER;
    if (was_up) {
        link->port->host(link->context, SHOE_HOST_LOST, 0);
    }
}

static void go_away(shoe_link_t *link, uint64_t now)
{
    leave(link, SHOE_AWAY);
    link->hello_at = now;
}

static void begin_session(shoe_link_t *link, uint64_t now)
{
    shoe_memory_t *memory = link->memory;
    uint32_t session;
    do {
        session = link->port->new_session(link->context);
    } while (session == 0 || session == memory->session);
    memory->session = session;
    memory->first = 1;
    memory->fresh = true;
    end_overflow(memory);
    link->dirty = true;
    if (link->state != SHOE_CLOSED) {
        go_away(link, now);
    }
}

static void renew_session(shoe_link_t *link, uint64_t now)
{
    if (link->memory->count == 0 && link->memory->first > SHOE_MAX_NUMBER - SHOE_SESSION_TAIL) {
        begin_session(link, now);
    }
}

static void enter_up(shoe_link_t *link, bool sealed, uint64_t now)
{
    link->state = SHOE_UP;
    link->authenticated = sealed;
    if (sealed) {
        shoe_link_key(link->key, link->key_size, link->host_nonce, link->device_nonce, link->link_key);
    }
    link->memory->fresh = false;
    link->dirty = true;
    link->heard = now;
    link->last_command = 0;
    link->answered = false;
    link->cursor = link->sent_up_to = link->memory->first;
    link->resend_after = SHOE_RESEND_FIRST_MS;
    link->resend_at = SHOE_NEVER;
    link->port->host(link->context, SHOE_HOST_UP, SHOE_ACCEPTED);
}

/* --- device link: what arrives ------------------------------------------------------------------------------------- */

static enum shoe_drop on_query(shoe_link_t *link, const shoe_host_message_t *query, uint64_t now)
{
    if (memcmp(query->host_nonce, no_nonce, SHOE_NONCE_BYTES) == 0) {
        return SHOE_DROP_MALFORMED;
    }
    if (!is_greeting(link) || memcmp(query->host_nonce, link->host_nonce, SHOE_NONCE_BYTES) != 0) {
        leave(link, SHOE_GREETING);
        memcpy(link->host_nonce, query->host_nonce, SHOE_NONCE_BYTES);
        link->port->nonce(link->context, link->device_nonce);
        link->host_has_key = (query->query_flags & 1) != 0;
        link->heard = now;
    }
    send_hello(link);
    return SHOE_USED;
}

static enum shoe_drop on_refusal(shoe_link_t *link, uint8_t verdict, uint64_t now)
{
    if (link->state != SHOE_GREETING) {
        return SHOE_DROP_OUT_OF_PLACE;
    }
    leave(link, SHOE_REFUSED);
    link->hello_at = now + SHOE_REFUSED_RETRY_MS;
    link->port->host(link->context, SHOE_HOST_REFUSED_US, verdict);
    return SHOE_USED;
}

static enum shoe_drop on_welcome(shoe_link_t *link, uint8_t *body, size_t size, uint64_t now)
{
    shoe_host_message_t welcome;
    enum shoe_drop drop;
    bool sealed = false;
    if (body[0] & SHOE_SEALED) {
        uint8_t key[32];
        if (!link->key) {
            return SHOE_DROP_BAD_SEAL;
        }
        shoe_greeting_key(link->key, link->key_size, key);
        size = shoe_unseal(body, size, key);
        if (size == 0) {
            return SHOE_DROP_BAD_SEAL;
        }
        sealed = true;
    }
    drop = shoe_read_host(body, size, &welcome);
    if (drop != SHOE_USED) {
        return drop;
    }
    if (!is_greeting(link)) {
        return SHOE_DROP_OUT_OF_PLACE;
    }
    if (welcome.verdict == SHOE_OTHER_VERSION) {
        return on_refusal(link, welcome.verdict, now);
    }
    if (memcmp(welcome.host_nonce, link->host_nonce, SHOE_NONCE_BYTES) != 0 ||
        memcmp(welcome.device_nonce, link->device_nonce, SHOE_NONCE_BYTES) != 0 ||
        welcome.session != link->memory->session) {
        return SHOE_DROP_STALE;
    }
    if (welcome.verdict == SHOE_KEY_REQUIRED || welcome.verdict == SHOE_WRONG_KEY) {
        return on_refusal(link, welcome.verdict, now);
    }
    if (!sealed && (is_sealing(link) || link->require_auth)) {
        return SHOE_DROP_NOT_SEALED;
    }
    if (welcome.verdict == SHOE_ACCEPTED && welcome.number > shoe_memory_next(link->memory)) {
        return SHOE_DROP_MALFORMED;
    }
    if (link->state == SHOE_GREETING) {
        drop_before(link->memory, welcome.number);
        link->dirty = true;
        if (welcome.verdict == SHOE_SESSION_TAKEN) {
            begin_session(link, now);
            return SHOE_USED;
        }
        enter_up(link, sealed, now);
    }
    send_beat(link, now); /* tells the host that its welcome has arrived */
    return SHOE_USED;
}

static enum shoe_drop on_ack(shoe_link_t *link, const shoe_host_message_t *ack, uint64_t now)
{
    shoe_memory_t *memory = link->memory;
    if (ack->session != memory->session || ack->number >= link->sent_up_to) {
        return SHOE_DROP_STALE;
    }
    if (ack->number >= memory->first) {
        drop_before(memory, ack->number + 1);
        link->dirty = true;
        if (link->cursor < memory->first) {
            link->cursor = memory->first;
        }
        link->resend_after = SHOE_RESEND_FIRST_MS;
        link->resend_at = link->cursor > memory->first ? now + link->resend_after : SHOE_NEVER;
    }
    renew_session(link, now);
    return SHOE_USED;
}

static enum shoe_drop on_replay(shoe_link_t *link, const shoe_host_message_t *replay)
{
    if (replay->session != link->memory->session || replay->number < link->memory->first ||
        replay->number >= link->sent_up_to) {
        return SHOE_DROP_STALE;
    }
    link->cursor = replay->number;
    return SHOE_USED;
}

static enum shoe_drop on_command(shoe_link_t *link, const shoe_host_message_t *command, enum shoe_drop drop)
{
    uint32_t id = command->command_id;
    if (id == 0) {
        return drop;
    }
    if (id < link->last_command) {
        send_answer(link, id, SHOE_SUPERSEDED);
    } else if (id == link->last_command) {
        if (link->answered) {
            send_answer(link, id, link->last_status);
        }
    } else {
        link->last_command = id;
        link->answered = false;
        if (drop == SHOE_USED) {
            link->port->command(link->context, command);
            return SHOE_USED;
        }
        shoe_link_answer(link, id, drop == SHOE_DROP_MALFORMED ? SHOE_BAD_ARGUMENT : SHOE_NOT_SUPPORTED);
        return drop;
    }
    return drop == SHOE_DROP_MALFORMED ? drop : SHOE_DROP_DUPLICATE;
}

static enum shoe_drop on_body(shoe_link_t *link, uint8_t *body, size_t size, uint64_t now)
{
    uint8_t kind = (uint8_t)(body[0] & ~SHOE_SEALED);
    shoe_host_message_t message;
    enum shoe_drop drop;
    if (kind == SHOE_WELCOME) {
        return on_welcome(link, body, size, now);
    }
    if (kind != SHOE_QUERY) {
        if (link->state != SHOE_UP) {
            return SHOE_DROP_OUT_OF_PLACE;
        }
        if (link->authenticated) {
            bool marked = (body[0] & SHOE_SEALED) != 0;
            size = shoe_unseal(body, size, link->link_key);
            if (size == 0) {
                return marked ? SHOE_DROP_BAD_SEAL : SHOE_DROP_NOT_SEALED;
            }
        }
    }
    drop = shoe_read_host(body, size, &message);
    if (drop == SHOE_USED && kind == SHOE_QUERY) {
        return on_query(link, &message, now);
    }
    if (drop == SHOE_USED || (drop == SHOE_DROP_UNKNOWN_TYPE && message.command_id)) {
        link->heard = now;
    }
    if (is_command(message.kind)) {
        return on_command(link, &message, drop);
    }
    if (drop != SHOE_USED) {
        return drop;
    }
    return kind == SHOE_ACK ? on_ack(link, &message, now) : on_replay(link, &message);
}

/* --- device link: the firmware's calls ----------------------------------------------------------------------------- */

bool shoe_link_init(shoe_link_t *link, const shoe_identity_t *identity, shoe_memory_t *memory,
                    const shoe_port_t *port, void *context, const uint8_t *key, size_t key_size, bool require_auth)
{
    memset(link, 0, sizeof *link);
    link->identity = identity;
    link->memory = memory;
    link->port = port;
    link->context = context;
    link->key = key;
    link->key_size = key_size;
    link->require_auth = require_auth;
    link->state = SHOE_CLOSED;
    link->hello_at = link->beat_at = link->resend_at = SHOE_NEVER;
    link->resend_after = SHOE_RESEND_FIRST_MS;
    link->cursor = link->sent_up_to = memory->first;
    return text_size(identity->serial_number) > 0 && text_size(identity->firmware_version) > 0 &&
           (key ? key_size >= SHOE_MIN_KEY_BYTES : !require_auth);
}

void shoe_link_connected(shoe_link_t *link, uint64_t now)
{
    shoe_decoder_init(&link->decoder);
    go_away(link, now);
    renew_session(link, now);
}

void shoe_link_disconnected(shoe_link_t *link)
{
    leave(link, SHOE_CLOSED);
}

void shoe_link_receive(shoe_link_t *link, const uint8_t *data, size_t size, uint64_t now)
{
    size_t at;
    if (link->state == SHOE_CLOSED) {
        return;
    }
    for (at = 0; at < size; at++) {
        enum shoe_drop drop;
        if (shoe_decoder_push(&link->decoder, data[at], &drop)) {
            drop = on_body(link, link->decoder.buffer + 1, link->decoder.body_size, now);
        }
        if (drop != SHOE_USED) {
            link->drops[drop]++;
        }
    }
    pump(link, now);
}

void shoe_link_tick(shoe_link_t *link, uint64_t now)
{
    if (is_greeting(link) && now >= link->heard + SHOE_SILENCE_MS) {
        go_away(link, now);
    }
    if (link->hello_at != SHOE_NEVER && now >= link->hello_at) {
        send_hello(link);
        link->hello_at = now + (link->state == SHOE_REFUSED ? SHOE_REFUSED_RETRY_MS : SHOE_ANNOUNCE_MS);
    }
    if (link->beat_at != SHOE_NEVER && now >= link->beat_at) {
        send_beat(link, now);
    }
    if (link->resend_at != SHOE_NEVER && now >= link->resend_at) {
        link->cursor = link->memory->first;
        link->resend_at = SHOE_NEVER;
        link->resend_after *= 2;
        if (link->resend_after > SHOE_RESEND_LONGEST_MS) {
            link->resend_after = SHOE_RESEND_LONGEST_MS;
        }
    }
    pump(link, now);
}

uint64_t shoe_link_deadline(const shoe_link_t *link)
{
    uint64_t at = link->hello_at;
    if (link->beat_at < at) {
        at = link->beat_at;
    }
    if (link->resend_at < at) {
        at = link->resend_at;
    }
    if (is_greeting(link) && link->heard + SHOE_SILENCE_MS < at) {
        at = link->heard + SHOE_SILENCE_MS;
    }
    return at;
}

bool shoe_link_report(shoe_link_t *link, uint8_t kind, const uint8_t *content, size_t size, uint64_t now)
{
    bool kept;
    renew_session(link, now);
    kept = shoe_memory_add(link->memory, kind, content, size);
    link->dirty = true;
    pump(link, now);
    return kept;
}

void shoe_link_answer(shoe_link_t *link, uint32_t command_id, uint8_t status)
{
    if (link->state == SHOE_UP && command_id == link->last_command) {
        link->answered = true;
        link->last_status = status;
        send_answer(link, command_id, status);
    }
}

bool shoe_link_may_feed(const shoe_link_t *link)
{
    return link->state == SHOE_UP && shoe_memory_may_feed(link->memory);
}
