//! Waiting inside the edge: for what comes once, for one of two things, for no longer than so long.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::hooks::Hooks;
use super::listen;

/// Something that comes once. Clones wait for the same.
pub(super) struct Moment<T>(Rc<RefCell<Waiting<T>>>);

struct Waiting<T> {
    value: Option<T>,
    wakers: Vec<Waker>,
}

impl<T> Clone for Moment<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> Moment<T> {
    pub(super) fn new() -> Self {
        Self(Rc::new(RefCell::new(Waiting { value: None, wakers: Vec::new() })))
    }

    /// It has come. The first value stays; whether this is it.
    pub(super) fn come(&self, value: T) -> bool {
        let wakers = match self.0.try_borrow_mut() {
            Ok(mut waiting) if waiting.value.is_none() => {
                waiting.value = Some(value);
                std::mem::take(&mut waiting.wakers)
            }
            _ => return false,
        };
        // Waking calls JS, so not under the guard.
        wakers.into_iter().for_each(Waker::wake);
        true
    }

    pub(super) fn has_come(&self) -> bool {
        self.0.try_borrow().is_ok_and(|waiting| waiting.value.is_some())
    }
}

impl<T: Clone> Future for Moment<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Ok(mut waiting) = self.0.try_borrow_mut() else { return Poll::Pending };
        if let Some(value) = &waiting.value {
            return Poll::Ready(value.clone());
        }
        if !waiting.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}

/// Works until something comes: `None` if it came first. The work is dropped then, with all that it listens to.
pub(super) async fn until<T, E>(end: impl Future<Output = E>, work: impl Future<Output = T>) -> Option<T> {
    let (mut end, mut work) = (pin!(end), pin!(work));
    poll_fn(|context| {
        if let Poll::Ready(value) = work.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        end.as_mut().poll(context).map(|_| None)
    })
    .await
}

/// A wait is cut into so many pieces. A page that was busy, frozen or asleep finds only one of them over, so that what the
/// browser has had ready for it meanwhile still comes in time.
const PIECES: u32 = 8;

/// Works for no longer than this, as long as the page runs: `None` if that was not enough.
pub(super) async fn within<T>(hooks: &Hooks, milliseconds: u32, work: impl Future<Output = T>) -> Option<T> {
    let end = async {
        for _ in 0..PIECES {
            after(hooks, milliseconds / PIECES).await;
        }
    };
    until(end, work).await
}

/// Waits.
pub(super) async fn after(hooks: &Hooks, milliseconds: u32) {
    let due = Moment::new();
    let timer = listen::after(hooks, milliseconds, {
        let due = due.clone();
        move || {
            due.come(());
        }
    });
    // Without a timer nothing would end the wait.
    if timer.is_ok() {
        due.await;
    }
}
