//! Bounds of a case that it cannot be trusted to keep itself: time, memory, panics.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Most memory that a case may hold at once (bytes): half as much again as the gibibyte of a kept
/// run.
pub const MOST_MEMORY: usize = 3 << 29;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Live memory when the case began.
static BASE: AtomicUsize = AtomicUsize::new(0);
/// Milliseconds from the start of the program to that of the case; 0 between cases.
static BEGAN: AtomicU64 = AtomicU64::new(0);
static CASE: Mutex<String> = Mutex::new(String::new());
static PANIC: Mutex<String> = Mutex::new(String::new());

/// The system's allocator, counted.
struct Counting;

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator as it is; the counts touch no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Memory far beyond the bound is not asked of the machine: the case is told and the program ends.
fn refuses(size: usize) -> bool {
    let far = LIVE.load(Relaxed).saturating_add(size) > 4 * MOST_MEMORY;
    if far {
        // no lock: the case may hold it
        if let Ok(case) = CASE.try_lock() {
            eprintln!("FINDING {case}: asks for {size} bytes at once");
        }
        std::process::exit(1);
    }
    false
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Keeps what panics say, instead of printing it.
pub fn keep_panics() {
    panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        if let Ok(mut kept) = PANIC.lock() {
            *kept = text;
        }
    }));
}

/// A thread that ends the program when a case takes longer than `patience`, or memory beyond the
/// bound.
pub fn over(start: Instant, patience: Duration) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let began = BEGAN.load(Relaxed);
            if began == 0 {
                continue;
            }
            let taken = start.elapsed().saturating_sub(Duration::from_millis(began));
            let memory = PEAK.load(Relaxed).saturating_sub(BASE.load(Relaxed));
            let what = if taken > patience {
                format!("no end within {:.1} s", taken.as_secs_f64())
            } else if memory > MOST_MEMORY {
                format!("takes {} MiB", memory >> 20)
            } else {
                continue;
            };
            let case = CASE.lock().map(|case| case.clone()).unwrap_or_default();
            if BEGAN.load(Relaxed) == began {
                println!("FINDING {case}: {what}");
                std::process::exit(1);
            }
        }
    });
}

/// Runs a case named `name`; the message where it panics, and the most memory that it held (bytes).
pub fn case(start: Instant, name: String, run: impl FnOnce()) -> (Option<String>, usize) {
    if let Ok(mut case) = CASE.lock() {
        *case = name;
    }
    let live = LIVE.load(Relaxed);
    BASE.store(live, Relaxed);
    PEAK.store(live, Relaxed);
    let began = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    BEGAN.store(began.max(1), Relaxed);
    let ended = panic::catch_unwind(AssertUnwindSafe(run));
    BEGAN.store(0, Relaxed);
    let memory = PEAK.load(Relaxed).saturating_sub(live);
    let message = ended
        .err()
        .map(|_| PANIC.lock().map(|kept| kept.clone()).unwrap_or_default());
    (message, memory)
}
