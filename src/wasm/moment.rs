//! Waiting inside the edge: for what comes once, for one of two things, for no longer than so long.

use std::cell::RefCell;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::hooks::Hooks;
use super::listen;

/// Something that comes once. Clones wait for the same.
#[derive(Clone)]
pub(super) struct Moment(Rc<RefCell<Waiting>>);

struct Waiting {
    has_come: bool,
    /// Of those who wait, each with its number.
    wakers: Vec<(u32, Waker)>,
    last: u32,
}

/// One who waits. What the moment has of it goes with it: the end of a session is waited for by thousands of tasks, most of
/// which end long before.
pub(super) struct Arrival {
    moment: Moment,
    number: Option<u32>,
}

impl Moment {
    pub(super) fn new() -> Self {
        Self(Rc::new(RefCell::new(Waiting { has_come: false, wakers: Vec::new(), last: 0 })))
    }

    /// It has come.
    pub(super) fn come(&self) {
        let wakers = match self.0.try_borrow_mut() {
            Ok(mut waiting) => {
                waiting.has_come = true;
                mem::take(&mut waiting.wakers)
            }
            Err(_) => return,
        };
        // Waking calls JS, so not under the guard.
        for (_, waker) in wakers {
            waker.wake();
        }
    }

    pub(super) fn has_come(&self) -> bool {
        self.0.try_borrow().is_ok_and(|waiting| waiting.has_come)
    }
}

impl IntoFuture for Moment {
    type Output = ();
    type IntoFuture = Arrival;

    fn into_future(self) -> Arrival {
        Arrival { moment: self, number: None }
    }
}

impl Future for Arrival {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { moment, number } = &mut *self;
        let Ok(mut guard) = moment.0.try_borrow_mut() else { return Poll::Pending };
        let waiting = &mut *guard;
        if waiting.has_come {
            return Poll::Ready(());
        }
        let known = waiting.wakers.iter_mut().find(|(other, _)| Some(*other) == *number);
        let replaced = match known {
            Some((_, waker)) if waker.will_wake(context.waker()) => None,
            Some((_, waker)) => Some(mem::replace(waker, context.waker().clone())),
            None => {
                waiting.last = waiting.last.wrapping_add(1);
                *number = Some(waiting.last);
                waiting.wakers.push((waiting.last, context.waker().clone()));
                None
            }
        };
        drop(guard);
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let taken = self.moment.0.try_borrow_mut().ok().and_then(|mut waiting| {
            let place = waiting.wakers.iter().position(|(other, _)| *other == number)?;
            Some(waiting.wakers.remove(place))
        });
        // A task may go with its last waker, and what that listens to, so not under the guard.
        drop(taken);
    }
}

/// Works until something comes: `None` if it came first. The work is dropped then, with all that it listens to.
pub(super) fn until<'a, T>(
    end: impl IntoFuture<Output = (), IntoFuture: 'a>,
    work: impl IntoFuture<Output = T, IntoFuture: 'a>,
) -> Until<'a, T> {
    Until { end: Box::pin(end.into_future()), work: Box::pin(work.into_future()) }
}

/// What [`until`] waits for. Boxed: it is compiled for each kind of value, and not for each kind of work.
pub(super) struct Until<'a, T> {
    end: Pin<Box<dyn Future<Output = ()> + 'a>>,
    work: Pin<Box<dyn Future<Output = T> + 'a>>,
}

impl<T> Future for Until<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        if let Poll::Ready(value) = self.work.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        self.end.as_mut().poll(context).map(|()| None)
    }
}

/// A wait is cut into so many pieces. A page that was busy, frozen or asleep finds only one of them over, so that what the
/// browser has had ready for it meanwhile still comes in time.
const PIECES: u32 = 8;

/// Works for no longer than this, as long as the page runs: `None` if that was not enough.
pub(super) fn within<'a, T>(
    hooks: &'a Hooks,
    milliseconds: u32,
    work: impl IntoFuture<Output = T, IntoFuture: 'a>,
) -> Until<'a, T> {
    let end = async move {
        for _ in 0..PIECES {
            after(hooks, milliseconds / PIECES).await;
        }
    };
    until(end, work)
}

/// Waits.
pub(super) async fn after(hooks: &Hooks, milliseconds: u32) {
    let due = Moment::new();
    let timer = listen::after(hooks, milliseconds, {
        let due = due.clone();
        move || due.come()
    });
    // Without a timer nothing would end the wait.
    if timer.is_ok() {
        due.await;
    }
}
