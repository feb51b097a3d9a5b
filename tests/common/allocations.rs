//! A global allocator that counts.
#![allow(
    unsafe_code,
    reason = "a global allocator that counts cannot be written without"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Of this thread only: the harness and other tests run beside it.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Bytes allocated less bytes given back, and the most that this ever was.
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

impl Counting {
    fn count() {
        // Gone when the thread ends; nothing is measured then.
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
    }

    fn hold(more: usize, less: usize) {
        let _ = HELD.try_with(|held| {
            let (now, most) = held.get();
            // Wrapping: what another thread allocated may be given back here.
            let now = now.wrapping_add(more).wrapping_sub(less);
            held.set((now, most.max(now)));
        });
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting neither allocates
// nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count();
        Self::hold(layout.size(), 0);
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count();
        Self::hold(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count();
        Self::hold(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Self::hold(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often this thread has allocated.
pub(crate) fn so_far() -> usize {
    ALLOCATIONS.with(Cell::get)
}

/// How often `work` allocates.
pub(crate) fn allocations(mut work: impl FnMut()) -> usize {
    let before = so_far();
    work();
    so_far() - before
}

/// The most bytes that were held at a time during `work`, beyond those before it.
pub(crate) fn most_held(work: impl FnOnce()) -> usize {
    let (now, _) = HELD.get();
    HELD.set((now, now));
    work();
    HELD.get().1 - now
}
