/*
 * A disk that fails, below SQLite and Python: calls on files of a folder are counted, fail, hang, or end the process.
 *
 * cc -shared -fPIC -O1 -o disk_faults.so disk_faults.c -ldl
 * LD_PRELOAD=disk_faults.so DISK_FAULTS=control DISK_FAULTS_FOLDER=/a/folder program
 *
 * `control` is a file of `struct control` (disk_faults.py has the same), which may be changed at any time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { READ = 1, WRITE = 2, SYNC = 4, NAME = 8, OPEN = 16 };

struct control {
    int32_t changes;    /* calls that change anything, counted from 0: writes, syncs, truncations, names */
    int32_t kill_at;    /* the process is killed before the change of this number; 0: never */
    int32_t torn;       /* if that is a write, half of it is made before */
    int32_t kinds;      /* which calls fail: a sum of `enum kind` */
    int32_t error;      /* with which errno */
    int32_t from;       /* from the call of these kinds of this number on, 1 being the first */
    int32_t times;      /* for so many calls */
    int32_t calls;      /* calls of these kinds, counted from 0 */
    int32_t fired;      /* calls that failed, or killed */
    int32_t hang;       /* reads do not return while this is not 0 */
};

enum { MAX_FILES = 65536 };

static struct control *control;
static const char *folder;
static char is_of_folder[MAX_FILES];

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DISK_FAULTS");
    folder = getenv("DISK_FAULTS_FOLDER");
    if (!path || !folder) return;
    int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    int (*real_close)(int) = dlsym(RTLD_NEXT, "close");
    int file = real_open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *mapped = mmap(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) control = mapped;
    real_close(file);
}

static int concerns(const char *path) { return control && path && strstr(path, folder) != NULL; }

static int concerns_file(int file) { return control && file >= 0 && file < MAX_FILES && is_of_folder[file]; }

/* Whether a call fails; errno is set then. */
static int fails(enum kind kind) {
    if (!(control->kinds & kind)) return 0;
    int call = __sync_add_and_fetch(&control->calls, 1);
    if (call < control->from || call >= control->from + control->times) return 0;
    __sync_add_and_fetch(&control->fired, 1);
    errno = control->error;
    return 1;
}

/* Whether the process is to be killed at this change. */
static int is_last(void) {
    int change = __sync_add_and_fetch(&control->changes, 1);
    return control->kill_at && change == control->kill_at;
}

static void end(void) {
    __sync_add_and_fetch(&control->fired, 1);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void change(void) {
    if (is_last()) end();
}

static int opened(int file, const char *path) {
    if (file >= 0 && file < MAX_FILES) is_of_folder[file] = concerns(path);
    return file;
}

#define OPENING(name) \
    REAL(name) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, int); \
        va_end(more); \
    } \
    if (concerns(path)) { \
        if (fails(OPEN)) return -1; \
        if ((flags & O_CREAT) && access(path, F_OK)) change(); \
    } \
    return opened(real(path, flags, mode), path);

int open(const char *path, int flags, ...) { OPENING(open) }
int open64(const char *path, int flags, ...) { OPENING(open64) }

int close(int file) {
    REAL(close)
    if (file >= 0 && file < MAX_FILES) is_of_folder[file] = 0;
    return real(file);
}

static void wait_for_reads(void) {
    while (control->hang) usleep(5000);
}

#define READING(name, ...) \
    REAL(name) \
    if (concerns_file(file)) { \
        wait_for_reads(); \
        if (fails(READ)) return -1; \
    } \
    return real(file, bytes, count, ##__VA_ARGS__);

ssize_t read(int file, void *bytes, size_t count) { READING(read) }
ssize_t pread(int file, void *bytes, size_t count, off_t at) { READING(pread, at) }
ssize_t pread64(int file, void *bytes, size_t count, off64_t at) { READING(pread64, at) }

#define WRITING(name, ...) \
    REAL(name) \
    if (concerns_file(file)) { \
        if (fails(WRITE)) return -1; \
        if (is_last()) { \
            if (control->torn && real(file, bytes, count / 2, ##__VA_ARGS__) < 0) end(); \
            end(); \
        } \
    } \
    return real(file, bytes, count, ##__VA_ARGS__);

ssize_t write(int file, const void *bytes, size_t count) { WRITING(write) }
ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) { WRITING(pwrite, at) }
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) { WRITING(pwrite64, at) }

#define CHANGING(name, is_ours, kind, ...) \
    REAL(name) \
    if (is_ours) { \
        if (fails(kind)) return -1; \
        change(); \
    } \
    return real(__VA_ARGS__);

int fsync(int file) { CHANGING(fsync, concerns_file(file), SYNC, file) }
int fdatasync(int file) { CHANGING(fdatasync, concerns_file(file), SYNC, file) }
int ftruncate(int file, off_t size) { CHANGING(ftruncate, concerns_file(file), WRITE, file, size) }
int ftruncate64(int file, off64_t size) { CHANGING(ftruncate64, concerns_file(file), WRITE, file, size) }
int rename(const char *from, const char *to) { CHANGING(rename, concerns(from), NAME, from, to) }
int unlink(const char *path) { CHANGING(unlink, concerns(path), NAME, path) }
