/* A disk that forgets: a SQLite VFS over the machine's own, which knows what was written and not yet synced.
 *
 * Until xSync, what is written is only in a cache. When the power is cut, the cache is lost: of each unsynced write
 * all, nothing, or some sectors reach the disk. Nothing else changes: the files are real files, in a folder in memory.
 *
 * Everything below happens in one thread; the journal opens its files here because this VFS is the default one.
 */

#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR 512

typedef struct Change {
  struct Change *next, *prev;
  sqlite3_int64 at, size_before;
  int length, had; /* a write: bytes written, and how many of them replaced others; -1: a truncation to `at` */
  unsigned char data[]; /* the old bytes, then the new ones */
} Change;

typedef struct Medium {
  struct Medium *next;
  char *path;
  Change *first, *last;
  sqlite3_int64 size; /* of the file, while it is open: nobody else changes it then */
  int users, gone;    /* a file that is still open when its disk goes is closed later, by who collects garbage */
} Medium;

typedef struct SimFile {
  sqlite3_file base;
  Medium *medium;
  sqlite3_file *real;
} SimFile;

static sqlite3_vfs *machine;
static sqlite3_vfs vfs;
static Medium *media;
static int dead, lying, fail_code;
static long operations, syncs, cut_at, fail_at;

static Medium *medium_of(const char *path) {
  Medium *m;
  for (m = media; m; m = m->next)
    if (!strcmp(m->path, path)) return m;
  m = calloc(1, sizeof *m);
  m->path = strdup(path);
  m->next = media;
  media = m;
  return m;
}

static void forget(Medium *m) {
  while (m->first) {
    Change *c = m->first;
    m->first = c->next;
    free(c);
  }
  m->last = NULL;
}

static void note(Medium *m, Change *c) {
  c->prev = m->last;
  c->next = NULL;
  if (m->last) m->last->next = c; else m->first = c;
  m->last = c;
}

/* Count an operation that changes the disk; return what goes wrong with it, if anything. */
static int trouble(int when_dead) {
  if (dead) return when_dead;
  operations++;
  if (cut_at && operations >= cut_at) {
    dead = 1;
    return when_dead;
  }
  if (fail_at && operations >= fail_at) return fail_code;
  return SQLITE_OK;
}

static int sim_close(sqlite3_file *file) {
  SimFile *f = (SimFile *)file;
  if (f->medium && !--f->medium->users && f->medium->gone) free(f->medium);
  return f->real->pMethods ? f->real->pMethods->xClose(f->real) : SQLITE_OK;
}

static int sim_read(sqlite3_file *file, void *to, int length, sqlite3_int64 at) {
  SimFile *f = (SimFile *)file;
  return dead ? SQLITE_IOERR_READ : f->real->pMethods->xRead(f->real, to, length, at);
}

static int sim_write(sqlite3_file *file, const void *from, int length, sqlite3_int64 at) {
  SimFile *f = (SimFile *)file;
  int was_dead = dead, wrong = trouble(SQLITE_IOERR_WRITE);
  if (wrong && (was_dead || !dead)) return wrong;
  if (f->medium) {
    Change *c = malloc(sizeof *c + 2 * (size_t)length);
    c->size_before = f->medium->size;
    c->at = at;
    c->length = length;
    c->had = 0;
    if (c->size_before > at) {
      c->had = c->size_before - at < length ? (int)(c->size_before - at) : length;
      f->real->pMethods->xRead(f->real, c->data, c->had, at);
    }
    memcpy(c->data + c->had, from, (size_t)length);
    note(f->medium, c);
    if (at + length > c->size_before) f->medium->size = at + length;
  }
  /* The write during which the power fails is one of the unsynced ones. */
  int done = f->real->pMethods->xWrite(f->real, from, length, at);
  return wrong ? wrong : done;
}

static int sim_truncate(sqlite3_file *file, sqlite3_int64 size) {
  SimFile *f = (SimFile *)file;
  int wrong = trouble(SQLITE_IOERR_TRUNCATE);
  if (wrong) return wrong;
  if (f->medium) {
    sqlite3_int64 before = f->medium->size;
    int had = before > size ? (int)(before - size) : 0;
    Change *c = malloc(sizeof *c + (size_t)had);
    c->at = size;
    c->size_before = before;
    c->length = -1;
    c->had = had;
    if (had) f->real->pMethods->xRead(f->real, c->data, had, size);
    note(f->medium, c);
    f->medium->size = size;
  }
  return f->real->pMethods->xTruncate(f->real, size);
}

static int sim_sync(sqlite3_file *file, int flags) {
  SimFile *f = (SimFile *)file;
  (void)flags;
  int wrong = trouble(SQLITE_IOERR_FSYNC);
  if (wrong) return wrong == SQLITE_FULL ? SQLITE_IOERR_FSYNC : wrong;
  syncs++;
  if (f->medium && !lying) forget(f->medium);
  return SQLITE_OK;
}

#define REAL(f) ((SimFile *)(f))->real
static int sim_size(sqlite3_file *file, sqlite3_int64 *size) {
  SimFile *f = (SimFile *)file;
  if (!f->medium) return REAL(f)->pMethods->xFileSize(REAL(f), size);
  *size = f->medium->size;
  return SQLITE_OK;
}
static int sim_lock(sqlite3_file *f, int kind) { return REAL(f)->pMethods->xLock(REAL(f), kind); }
static int sim_unlock(sqlite3_file *f, int kind) { return REAL(f)->pMethods->xUnlock(REAL(f), kind); }
static int sim_reserved(sqlite3_file *f, int *out) { return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out); }
static int sim_control(sqlite3_file *f, int op, void *arg) { return REAL(f)->pMethods->xFileControl(REAL(f), op, arg); }
static int sim_sector(sqlite3_file *f) { return REAL(f)->pMethods->xSectorSize(REAL(f)); }
static int sim_traits(sqlite3_file *f) { return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f)); }
static int sim_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **to) {
  return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, to);
}
static int sim_shm_lock(sqlite3_file *f, int from, int n, int flags) {
  return REAL(f)->pMethods->xShmLock(REAL(f), from, n, flags);
}
static void sim_shm_barrier(sqlite3_file *f) { REAL(f)->pMethods->xShmBarrier(REAL(f)); }
static int sim_shm_unmap(sqlite3_file *f, int away) { return REAL(f)->pMethods->xShmUnmap(REAL(f), away); }

static const sqlite3_io_methods methods = {
    2,           sim_close,    sim_read,     sim_write,   sim_truncate, sim_sync,     sim_size,
    sim_lock,    sim_unlock,   sim_reserved, sim_control, sim_sector,   sim_traits,   sim_shm_map,
    sim_shm_lock, sim_shm_barrier, sim_shm_unmap, NULL,   NULL,
};

static int sim_open(sqlite3_vfs *v, const char *path, sqlite3_file *file, int flags, int *out) {
  SimFile *f = (SimFile *)file;
  (void)v;
  f->base.pMethods = NULL;
  if (dead) return SQLITE_CANTOPEN;
  f->real = (sqlite3_file *)&f[1];
  f->medium = path ? medium_of(path) : NULL; /* what has no name does not outlive the process */
  if (path && access(path, F_OK)) forget(f->medium); /* it was removed behind our back: this is another file */
  int result = machine->xOpen(machine, path, f->real, flags, out);
  if (f->real->pMethods) {
    f->base.pMethods = &methods;
    if (f->medium) {
      f->medium->users++;
      f->real->pMethods->xFileSize(f->real, &f->medium->size);
    }
  }
  return result;
}

static int sim_delete(sqlite3_vfs *v, const char *path, int sync) {
  (void)v;
  int wrong = trouble(SQLITE_IOERR_DELETE);
  if (wrong) return wrong == SQLITE_FULL ? SQLITE_IOERR_DELETE : wrong;
  int result = machine->xDelete(machine, path, sync);
  if (result == SQLITE_OK) forget(medium_of(path));
  return result;
}

int simdisk_register(void) {
  if (machine) return SQLITE_OK;
  machine = sqlite3_vfs_find("unix");
  if (!machine) return SQLITE_ERROR;
  vfs = *machine;
  vfs.pNext = NULL;
  vfs.zName = "simdisk";
  vfs.szOsFile = (int)sizeof(SimFile) + machine->szOsFile;
  vfs.xOpen = sim_open;
  vfs.xDelete = sim_delete;
  return sqlite3_vfs_register(&vfs, 1);
}

/* Leave the machine as it was found. All files must be closed. */
int simdisk_unregister(void) {
  if (!machine) return SQLITE_OK;
  sqlite3_vfs_unregister(&vfs);
  int result = sqlite3_vfs_register(machine, 1);
  machine = NULL;
  return result;
}

/* A new disk: nothing is unsynced, nothing is planned. */
void simdisk_reset(void) {
  while (media) {
    Medium *m = media;
    media = m->next;
    forget(m);
    free(m->path);
    m->path = NULL;
    m->gone = 1;
    if (!m->users) free(m);
  }
  dead = lying = fail_code = 0;
  operations = syncs = cut_at = fail_at = 0;
}

void simdisk_lie(int yes) { lying = yes; }
void simdisk_power(int on) { dead = !on; }
int simdisk_is_dead(void) { return dead; }
long simdisk_operations(void) { return operations; }
long simdisk_syncs(void) { return syncs; }

/* Cut the power, or fail, at the n-th operation from now; 0: never. */
void simdisk_plan(long cut, long fail, int code) {
  cut_at = cut ? operations + cut : 0;
  fail_at = fail ? operations + fail : 0;
  fail_code = code;
}

static uint64_t chance;
static uint32_t draw(uint32_t below) { /* xorshift64* */
  chance ^= chance >> 12;
  chance ^= chance << 25;
  chance ^= chance >> 27;
  return (uint32_t)((chance * 2685821657736338717u) >> 33) % below;
}

static int redo(int fd, Change *c) {
  uint32_t fate = draw(5);
  if (fate < 2) return 1; /* lost */
  if (c->length < 0) {
    if (ftruncate(fd, c->at)) abort();
    return 0;
  }
  const unsigned char *data = c->data + c->had;
  int torn = 0, from = 0;
  while (from < c->length) {
    int to = (int)(((c->at + from) / SECTOR + 1) * SECTOR - c->at);
    if (to > c->length) to = c->length;
    if (fate < 4 || draw(2)) {
      if (pwrite(fd, data + from, (size_t)(to - from), c->at + from) != to - from) abort();
    } else {
      torn = 1;
    }
    from = to;
  }
  return torn;
}

/* The power is cut, or was: lose the cache. Return how many unsynced changes there were; *lost: how many not whole. */
int simdisk_lose_cache(uint64_t seed, int *lost) {
  int unsynced = 0;
  *lost = 0;
  chance = seed | 1;
  for (Medium *m = media; m; m = m->next) {
    if (!m->first) continue;
    int fd = open(m->path, O_RDWR);
    if (fd >= 0) {
      for (Change *c = m->last; c; c = c->prev) { /* back to what was synced */
        if (c->had && pwrite(fd, c->data, (size_t)c->had, c->at) != c->had) abort();
        if (ftruncate(fd, c->size_before)) abort();
      }
      for (Change *c = m->first; c; c = c->next) {
        unsynced++;
        *lost += redo(fd, c);
      }
      close(fd);
    }
    forget(m);
  }
  return unsynced;
}
