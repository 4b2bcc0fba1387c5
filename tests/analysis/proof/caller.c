/* Calls functions of a library, each in a process of its own, and tells which break their contract.
 *
 * A job is a line of the standard input: name, specification (0 step, 1 attacks, 2 arrays), win64, seed,
 * number of states, and the number of boards: -1 for random states, else registers and boards follow: 16 general
 * registers, 8 masks, 32 vectors of 8 lanes, which input the result overwrites (-1: none), the inputs' words.
 * Some states run under a signal after each instruction, some at the lowest end of the stack.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

typedef uint64_t u64;
enum { PAGE = 4096, DEEP = 64 * PAGE, ABOVE = 8192, MOST = 64, STEPS = 3000, RSP = 4 };
struct state {
    u64 general[16], masks[8], vectors[32][8], flags;
} given, left;
u64 target, stack_at, own_stack, level;
void enter(void), back(void);

/* What objects in the library may be replaced by: misaligned, of other contents, far from each other. */
struct __attribute__((packed)) {
    char odd, first[64], between[40], second[64];
} others;
__asm__(".globl shared, shared2\n.set shared, others + 1\n.set shared2, others + 105\n"
        ".type shared, @object\n.type shared2, @object\n.size shared, 64\n.size shared2, 64");

__asm__(R"(
.intel_syntax noprefix
.macro words do
.irp r, rax,rcx,rdx,rbx,rbp,rsi,rdi,r8,r9,r10,r11,r12,r13,r14,r15
\do \r
.endr
.endm
.macro place r
.set at, 0
.irp s, rax,rcx,rdx,rbx,rsp,rbp,rsi,rdi,r8,r9,r10,r11,r12,r13,r14,r15
.ifc \r,\s
.set found, at
.endif
.set at, at+8
.endr
.endm
.macro take r
place \r
mov \r, [rip+given+found]
.endm
.macro give r
place \r
mov [rip+left+found], \r
.endm
.macro lanes mnemonic, file, number, store
.set at, 192
.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
.if \n < \number
.if \store
\mnemonic [rax+at], \file\n
.else
\mnemonic \file\n, [rax+at]
.endif
.endif
.set at, at+64
.endr
.endm
.macro all store
cmp qword ptr [rip+level], 1
jb 1f
je 2f
lanes vmovdqu64, zmm, 32, \store
.set at, 128
.irp n, 0,1,2,3,4,5,6,7
.if \store
kmovq [rax+at], k\n
.else
kmovq k\n, [rax+at]
.endif
.set at, at+8
.endr
jmp 3f
2: lanes vmovdqu, ymm, 16, \store
jmp 3f
1: lanes movdqu, xmm, 16, \store
3:
.endm
.globl enter, back
enter: push rbx
push rbp
push r12
push r13
push r14
push r15
mov [rip+own_stack], rsp
mov rsp, [rip+stack_at]
lea rax, [rip+given]
all 0
push qword ptr [rip+given+2240]
words take
popfq
call [rip+target]
back: words give
mov [rip+left+32], rsp
mov rsp, [rip+own_stack]
cld
lea rax, [rip+left]
all 1
pop r15
pop r14
pop r13
pop r12
pop rbp
pop rbx
ret
.att_syntax prefix
)");

struct job {
    char name[64];
    int specification, win64, states, boards, alias;
    u64 seed, inputs[2][MOST];
    struct state registers;
} job;
struct verdict {
    int state;
    char what[60];
} *verdict;
static unsigned char *low, *pages[3], pool[8 * PAGE], *entry, alternate[65536];
static u64 chance, steps;

static u64 any(void)
{
    chance ^= chance << 13, chance ^= chance >> 7, chance ^= chance << 17;
    return chance * 0x2545f4914f6cdd1d;
}

static u64 word(void)
{
    switch (any() % 8) {
    case 0: return any() % 3 - 1;
    case 1: return any() % 80;
    case 2: return 1ULL << any() % 64;
    case 3: return any() | any() | any();
    case 4: case 5: return any() & any() & any();
    default: return any();
    }
}

static void end(const char *what)
{
    snprintf(verdict->what, sizeof verdict->what, "%s", what);
    _exit(0);
}

static void trap(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    unsigned char *vectors = (unsigned char *)((ucontext_t *)context)->uc_mcontext.fpregs;
    unsigned char *rsp = (unsigned char *)registers[REG_RSP] - (job.win64 ? 0 : 128);
    (void)number, (void)info;
    if ((u64)registers[REG_RIP] == (u64)back || ++steps > STEPS)
        registers[REG_EFL] &= ~256;
    else
        for (unsigned char *at = vectors + *(uint32_t *)(vectors + 468); at < rsp; at++)
            *at = 0xa5;
}

static void crash(int number, siginfo_t *info, void *context)
{
    unsigned char *at = info->si_addr;
    (void)context;
    if (entry < low + 3 * PAGE && at >= low + PAGE && at < low + 2 * PAGE && number == SIGSEGV)
        end("overflow");
    end(number == SIGPROF ? "endless" : strsignal(number));
}

static u64 walk(u64 from, u64 empty, int file, int rank, int most)
{
    u64 reached = 0;
    for (int square = 0; square < 64; square++)
        for (int x = square % 8 + file, y = square / 8 + rank, n = 0; from >> square & 1 && n < most; x += file, y += rank, n++) {
            if (x < 0 || x > 7 || y < 0 || y > 7)
                break;
            reached |= 1ULL << (8 * y + x);
            if (!(empty >> (8 * y + x) & 1))
                break;
        }
    return reached;
}

static void fill(unsigned char *from, size_t size)
{
    memcpy(from, pool, size);
}

static int differs(const unsigned char *from, const unsigned char *start, size_t size)
{
    return memcmp(from, pool + (from - start), size);
}

/* One run; what is wrong, or nothing. */
static const char *run(int number)
{
    static const int lengths[] = {0, 1, 2, 3, 5, 8, 17, 4, 7, 9, 6, 16, 33, 15, 10, 11, 12, 13, 24, 31, 64};
    static const int places[2][4] = {{7, 6, 2, 1}, {1, 2, 8, 9}}, saved[] = {3, 5, 12, 13, 14, 15, 6, 7};
    const int inputs = job.specification ? 2 : 1, fixed = job.boards >= 0, arrays = job.specification == 2;
    const int *place = places[job.win64], n = fixed ? job.boards : arrays ? lengths[number % 21] : 1;
    int alias = !arrays ? -1 : fixed ? job.alias : number % 5 == 1 ? 0 : number % 5 == 3 ? 1 : -1;
    int lowest = number >= job.states - 2, stepped = number % 4 == 2 && !lowest;
    u64 words[2][MOST], want[MOST], *at[3];
    const char *wrong = NULL;

    for (size_t i = 0; i < sizeof pool; i += 8)
        *(u64 *)(pool + i) = any();
    fill(low, PAGE);
    entry = lowest ? low + 2 * PAGE + 8 : low + DEEP / 2 + any() % 256 * 16 + 8;
    if (!lowest)
        fill(entry - 3 * PAGE, 3 * PAGE);
    fill(entry + 8, ABOVE);
    stack_at = (u64)entry + 8;
    if (fixed)
        given = job.registers;
    else
        for (u64 *each = (u64 *)&given; each < (u64 *)(&given + 1); each++)
            *each = word();
    given.flags = (any() & 0x8d5) | 2 | (stepped ? 256 : 0);
    for (int i = 0; i < n; i++) {
        for (int input = 0; input < inputs; input++)
            words[input][i] = fixed ? job.inputs[input][i] : word();
        want[i] = walk(words[0][i], words[1][i], 0, 1, job.specification ? 7 : 1);
    }
    for (int array = 2, other; array > 0; array--) { /* in any order */
        unsigned char *page = pages[other = any() % (array + 1)];
        pages[other] = pages[array], pages[array] = page;
    }
    for (int array = 0; array < 3; array++) {
        int size = 8 * n, room = 2 * PAGE - size, where = any() % 3;
        fill(pages[array], 2 * PAGE);
        at[array] = (u64 *)(pages[array] + (where == 0 ? 0 : where == 1 ? room : (int)(any() % (room / 8)) * 8));
    }
    if (arrays) {
        for (int array = 0; array < 2; array++)
            memcpy(at[array], words[array], 8 * n);
        at[2] = alias < 0 ? at[2] : at[alias];
        for (int array = 0; array < 3; array++)
            given.general[place[array]] = (u64)at[array];
        given.general[place[3]] = n;
    } else
        for (int input = 0; input < inputs; input++)
            given.general[place[input]] = words[input][0];
    for (int i = 0; i < (int)sizeof others; i++)
        ((char *)&others)[i] = any();

    steps = 0;
    enter();

    u64 *got = arrays ? at[2] : left.general;
    for (int i = 0; i < n; i++)
        if (got[i] != want[i])
            wrong = "result";
    if (left.general[RSP] != stack_at)
        wrong = "rsp";
    for (int i = 0; i < (job.win64 ? 8 : 6); i++)
        if (left.general[saved[i]] != given.general[saved[i]])
            wrong = "saved register";
    for (int i = 6; i < 16 && job.win64; i++)
        if (memcmp(left.vectors[i], given.vectors[i], 16))
            wrong = "saved vector";
    int home = job.win64 ? 32 : 0;
    if (differs(entry + 8 + home, entry + 8, ABOVE - home) || differs(low, low, PAGE))
        wrong = "stack";
    for (int array = 0; array < 3; array++) {
        unsigned char *own = (unsigned char *)at[array], *page = pages[array];
        if (own < page || own > page + 2 * PAGE) /* the result lies in an input's place */
            own = page;
        int size = own == (unsigned char *)at[array] && arrays ? 8 * n : 0;
        if (differs(page, page, own - page) || differs(own + size, page, page + 2 * PAGE - own - size))
            wrong = "memory beside";
        if (arrays && array < 2 && alias != array && memcmp(at[array], words[array], 8 * n))
            wrong = "an input";
    }
    return wrong;
}

static int read_job(void)
{
    if (scanf("%63s %d %d %lu %d %d", job.name, &job.specification, &job.win64, &job.seed, &job.states, &job.boards) != 6)
        return 0;
    if (job.boards >= 0) {
        for (u64 *each = (u64 *)&job.registers; each < &job.registers.flags; each++)
            if (scanf("%lx", each) != 1)
                return 0;
        if (scanf("%d", &job.alias) != 1)
            return 0;
        for (int input = 0; input < (job.specification ? 2 : 1); input++)
            for (int i = 0; i < job.boards; i++)
                if (scanf("%lx", &job.inputs[input][i]) != 1)
                    return 0;
    }
    return 1;
}

static void catch(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaction(number, &action, NULL);
}

static unsigned char *fenced(size_t size)
{
    unsigned char *at = mmap(NULL, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(at + PAGE, size, PROT_READ | PROT_WRITE);
    return at + PAGE;
}

int main(int count, char **arguments)
{
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (!library)
        return fprintf(stderr, "%s\n", count == 2 ? dlerror() : "one library"), 2;
    __builtin_cpu_init();
    level = __builtin_cpu_supports("avx512bw") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
    verdict = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    low = fenced(DEEP);
    mprotect(low + PAGE, PAGE, PROT_NONE);
    for (int array = 0; array < 3; array++)
        pages[array] = fenced(2 * PAGE);
    sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
    catch(SIGTRAP, trap, 0);
    for (const int *each = (const int[]){SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGPROF, 0}; *each; each++)
        catch(*each, crash, SA_ONSTACK | SA_NODEFER);
    while (read_job()) {
        target = (u64)dlsym(library, job.name);
        *verdict = (struct verdict){0, "killed"};
        pid_t child = fork();
        if (!child) {
            chance = job.seed * 2 + 1;
            for (int i = 0; i < 20; i++)
                any();
            for (; verdict->state < job.states; verdict->state++) {
                setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {0, 300000}}, NULL);
                const char *wrong = run(verdict->state);
                if (wrong)
                    end(wrong);
            }
            end("fine");
        }
        waitpid(child, NULL, 0);
        printf("%s %d %s\n", job.name, verdict->state, verdict->what);
    }
    return 0;
}
