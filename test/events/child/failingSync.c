/* Preloaded: while the file named by FAIL_SYNC exists, every sync of a WAL fails with EIO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int fd) {
  char link[64], path[4096];
  const char *flag = getenv("FAIL_SYNC");
  if (flag == NULL || access(flag, F_OK) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  return length > 4 && strncmp(path + length - 4, "-wal", 4) == 0;
}

static int sync_with(const char *name, int fd) {
  if (fails(fd)) {
    errno = EIO;
    return -1;
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}

int fsync(int fd) { return sync_with("fsync", fd); }
int fdatasync(int fd) { return sync_with("fdatasync", fd); }
