/*
 * Preloaded into a process that owns a log. Counts every operation that changes a file below one folder, ends or fails the one it is
 * told to, and writes down what was done. It goes past libc to the kernel, so nothing is between an operation and its record.
 * What it is told stands in shared memory (the file named by CRASH_CONTROL, layout below and in shim.ts); the record is beside it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { OFF, COUNT, KILL, HALF, FAIL_ONCE, FULL, UNSYNCED };

static struct control {
  int32_t mode, recorded;
  int64_t at, count;
  char folder[488];
} *control;
static int record_fd = -1;

__attribute__((constructor)) static void load(void) {
  const char *path = getenv("CRASH_CONTROL");
  if (path == NULL) return;
  char record[4096];
  snprintf(record, sizeof record, "%s.record", path);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  void *shared = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  record_fd = open(record, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || shared == MAP_FAILED || record_fd < 0) abort();
  control = shared;
}

static int is_watched(const char *path) {
  if (control == NULL || control->mode == OFF) return 0;
  size_t length = strlen(control->folder);
  return strncmp(path, control->folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* Path of an open file that is watched, or NULL. */
static const char *watched_path(int fd) {
  static _Thread_local char path[4096];
  char link[64];
  if (control == NULL || control->mode == OFF) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return NULL;
  path[length] = 0;
  return is_watched(path) ? path : NULL;
}

struct header {
  char kind, failed;
  uint16_t path_length;
  uint32_t length;
  int64_t offset;
};

static void record(char kind, long result, const char *path, int64_t offset, const void *data, size_t length) {
  if (!control->recorded) return;
  int saved = errno;
  struct header header = {kind, result < 0, (uint16_t)strlen(path), (uint32_t)length, offset};
  struct iovec parts[] = {{&header, sizeof header}, {(void *)path, header.path_length}, {(void *)data, length}};
  if (syscall(SYS_writev, record_fd, parts, 3) < 0) abort();
  errno = saved;
}

static void die(void) { syscall(SYS_kill, getpid(), SIGKILL); }

/* Counts an operation of this kind. Whether it fails (with errno set) instead of being done. */
static int fails(char kind) {
  int64_t now = ++control->count;
  if (control->mode == KILL && now == control->at) die();
  if (control->mode == FAIL_ONCE && now == control->at) return errno = EIO, 1;
  if (control->mode == FULL && now >= control->at && kind == 'W') return errno = ENOSPC, 1;
  if (control->mode == UNSYNCED && now >= control->at && kind == 'S') return errno = EIO, 1;
  return 0;
}

static long put(int fd, const void *data, size_t length, off_t offset) {
  return offset < 0 ? syscall(SYS_write, fd, data, length) : syscall(SYS_pwrite64, fd, data, length, offset);
}

/* `offset` is negative for where the file stands. */
static ssize_t do_write(int fd, const void *data, size_t length, off_t offset) {
  const char *path = watched_path(fd);
  if (path == NULL) return put(fd, data, length, offset);
  if (control->mode == HALF && control->count + 1 == control->at) {
    put(fd, data, length / 2, offset);
    die();
  }
  int64_t at = offset;
  if (offset < 0) at = fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
  long result = fails('W') ? -1 : put(fd, data, length, offset);
  record('W', result, path, at, data, result < 0 ? length : (size_t)result);
  return result;
}

ssize_t write(int fd, const void *data, size_t length) { return do_write(fd, data, length, -1); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return do_write(fd, data, length, at); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) { return do_write(fd, data, length, at); }

/* As one write after the other: that is what a disk sees of it. */
static ssize_t do_writev(int fd, const struct iovec *parts, int count, off_t offset) {
  ssize_t total = 0;
  for (int i = 0; i < count; i++) {
    ssize_t done = do_write(fd, parts[i].iov_base, parts[i].iov_len, offset < 0 ? offset : offset + total);
    if (done < 0) return total > 0 ? total : done;
    total += done;
    if ((size_t)done < parts[i].iov_len) break;
  }
  return total;
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return do_writev(fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return do_writev(fd, parts, count, at); }

static int do_sync(long call, int fd) {
  const char *path = watched_path(fd);
  long result = path != NULL && fails('S') ? -1 : syscall(call, fd);
  if (path != NULL) record('S', result, path, 0, "", 0);
  return (int)result;
}
int fsync(int fd) { return do_sync(SYS_fsync, fd); }
int fdatasync(int fd) { return do_sync(SYS_fdatasync, fd); }

static int do_truncate(int fd, off_t size) {
  const char *path = watched_path(fd);
  long result = path != NULL && fails('T') ? -1 : syscall(SYS_ftruncate, fd, size);
  if (path != NULL) record('T', result, path, size, "", 0);
  return (int)result;
}
int ftruncate(int fd, off_t size) { return do_truncate(fd, size); }
int ftruncate64(int fd, off64_t size) { return do_truncate(fd, size); }

int unlink(const char *path) {
  int watched = is_watched(path);
  long result = watched && fails('U') ? -1 : syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (watched) record('U', result, path, 0, "", 0);
  return (int)result;
}

int rename(const char *from, const char *to) {
  int watched = is_watched(from) || is_watched(to);
  long result = watched && fails('R') ? -1 : syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (watched) record('R', result, from, 0, to, strlen(to));
  return (int)result;
}

/* Not counted, as it writes nothing; recorded, as it makes a name. */
static int do_open(const char *path, int flags, mode_t mode) {
  int makes = control != NULL && (flags & O_CREAT) && is_watched(path) && access(path, F_OK) != 0;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (makes && fd >= 0) record('C', fd, path, 0, "", 0);
  return fd;
}
int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return do_open(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return do_open(path, flags | O_LARGEFILE, mode);
}
