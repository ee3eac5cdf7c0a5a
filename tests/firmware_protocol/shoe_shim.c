/* Lets tests reach into the C reference through ctypes without repeating the layout of its large structures. */

#include "shoe_protocol.h"

size_t shim_link_size(void) { return sizeof(shoe_link_t); }
size_t shim_memory_size(void) { return sizeof(shoe_memory_t); }
size_t shim_decoder_size(void) { return sizeof(shoe_decoder_t); }
const uint8_t *shim_decoder_body(const shoe_decoder_t *decoder) { return decoder->body; }
size_t shim_decoder_body_size(const shoe_decoder_t *decoder) { return decoder->body_size; }
int shim_state(const shoe_link_t *link) { return (int)link->state; }
bool shim_authenticated(const shoe_link_t *link) { return link->authenticated; }
uint32_t shim_drops(const shoe_link_t *link, int reason) { return link->drops[reason]; }
uint32_t shim_session(const shoe_memory_t *memory) { return memory->session; }
uint32_t shim_first(const shoe_memory_t *memory) { return memory->first; }
uint32_t shim_count(const shoe_memory_t *memory) { return memory->count; }
bool shim_overflowed(const shoe_memory_t *memory) { return memory->overflowed; }
void shim_set_first(shoe_memory_t *memory, uint32_t first) { memory->first = first; memory->fresh = false; }
void shim_set_health(shoe_link_t *link, uint32_t reads, uint32_t retries, uint32_t misses, bool gate, bool lid)
{
    link->reads = reads;
    link->retries = retries;
    link->misses = misses;
    link->gate_open = gate;
    link->lid_open = lid;
}
