//! A run to look at: one HTML page with a scene that moves, its events on a time line, contact
//! forces, and plots.
//!
//! A [`Page`] is made of a run and of what there is to be seen in it: a scene of bodies
//! (`Page::scene`, with the forces of the compliant driver on them, `Page::forces`), or whatever a
//! model draws of itself with a [`Pen`]. It is a file that needs nothing else, from a network or a
//! disk: any browser opens it, now or in ten years.
//!
//! ```
//! use saltation::models::BouncingBall;
//! use saltation::{ContactModel, EventDriven, Page, Start};
//! let ball = ContactModel::new(BouncingBall::default());
//! let run = EventDriven::new(ball)?.integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 2.0)?;
//! let page = Page::new(&run, 60.0)? // states a second
//!     .title("A ball that bounces")
//!     .names(&["height [m]", "speed [m/s]"])?
//!     .drawn(|_t, state, pen| {
//!         let z = state[0];
//!         pen.line(&[[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]); // the floor
//!         pen.line(&[[0.0, 0.0, z], [0.05, 0.0, z + 0.05], [-0.05, 0.0, z + 0.05], [0.0, 0.0, z]]);
//!     })?;
//! let mut html = Vec::new(); // or a file
//! page.write_html(&mut html)?;
//! assert!(html.len() < 100_000 && html.starts_with(b"<!DOCTYPE html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the page shows
//!
//! * The scene, seen without perspective: drag turns it (a model in the plane is shifted), the wheel
//!   zooms, a drag with the shift key or the right button shifts, a double click begins again.
//! * A time line with the events of the run in the colours of their kinds; play, pause, speed; keys:
//!   the space bar plays, the arrows go on by one sample.
//! * Forces as arrows of a stated length for a newton. The longest are cut, and have another colour.
//! * Plots of the state against time, with the events.
//! * The samples themselves: a page shows a state of the run or the one after it, and nothing
//!   between. `page.html#t=1.25` opens at a time; the state that is shown stands in the document as
//!   JSON, in the element `shown`, for programs that read it.
//!
//! States are those of [`Run::state_at`] at the stated rate, and at both sides of each jump, rounded
//! to a power of ten between 1e-7 and 1e-6 of the largest size of each entry. At most 20,000 of them
//! are shown, fewer where they have many entries: the page says so then, and of events beyond
//! 5,000.
//!
//! [`Run::state_at`]: crate::Run::state_at

// Inside: `film` (the states that are shown), `marks` (events), `pen` (what a model draws),
// `solids` (bodies of a scene, and forces on them), `made_again` (the steps that these are of), `pack` (all
// of it as short text). The page itself:
// `page.html` (with its style), `scene.js` (the scene), `page.js` (data, time and plots).

mod film;
#[cfg(feature = "compliant")]
mod made_again;
mod marks;
mod pack;
mod pen;
#[cfg(feature = "compliant")]
mod solids;

use std::io::{self, Write};

#[cfg(feature = "compliant")]
use crate::bodies::Scene;
#[cfg(feature = "compliant")]
use crate::compliant::{Compliant, CompliantFailure};
use crate::{InputError, Run, validate};
use film::Film;
use marks::{Mark, marks, thin, write_marks};
use pack::{Frames, Rounding, write_list, write_numbers, write_text};
use pen::Drawing;
pub use pen::Pen;

const BODY: &str = include_str!("page.html");
const SCENE_SCRIPT: &str = include_str!("scene.js");
const PAGE_SCRIPT: &str = include_str!("page.js");

/// One HTML page of a run; see the [module](self).
#[derive(Clone, Debug)]
pub struct Page<'a> {
    run: &'a Run,
    title: String,
    /// Of the entries of the state; of a name with a bar the first part says in which plot it is.
    names: Vec<String>,
    film: Film,
    drawing: Drawing,
    marks: Vec<Mark>,
    #[cfg(feature = "compliant")]
    scene: Option<&'a Scene>,
    /// The scene of the driver whose forces are drawn.
    #[cfg(feature = "compliant")]
    driven: Option<Scene>,
}

impl<'a> Page<'a> {
    /// A page of a run, with so many states a second (60 is usual).
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a rate that is not positive, [`InputError::NotFinite`] for a
    /// state that is not finite.
    pub fn new(run: &'a Run, rate: f64) -> Result<Self, InputError> {
        let (coordinates, dim) = (run.q(0).len(), run.state().len());
        let name = |i: usize| match coordinates {
            0 => format!("x{i}"),
            n if i < n => format!("q{i}"),
            n => format!("v{}", i - n),
        };
        Ok(Self {
            run,
            title: "A run".to_owned(),
            names: (0..dim).map(name).collect(),
            film: Film::of(run, rate)?,
            drawing: Drawing::default(),
            marks: marks(run),
            #[cfg(feature = "compliant")]
            scene: None,
            #[cfg(feature = "compliant")]
            driven: None,
        })
    }

    /// The title.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// Names of the entries of the state, with their units; default `x0` …, or `q0` … and `v0` … of
    /// bodies. Entries with names that are equal up to a bar (`height [m]|left`, `height [m]|right`) are
    /// curves of one plot.
    ///
    /// # Errors
    /// [`InputError::WrongLength`].
    pub fn names(mut self, names: &[&str]) -> Result<Self, InputError> {
        validate::length("names", self.film.dim, names.len())?;
        self.names = names.iter().map(|&name| name.to_owned()).collect();
        Ok(self)
    }

    /// Lines and forces that the model draws of itself at time `t` and a state: `draw` is called for
    /// all samples, in order of time.
    ///
    /// # Errors
    /// [`InputError::NotFinite`], with the number of the sample, for a point or a force;
    /// [`InputError::BadSetting`] for more than four million numbers.
    pub fn drawn(
        mut self,
        mut draw: impl FnMut(f64, &[f64], &mut Pen),
    ) -> Result<Self, InputError> {
        for (k, (t, state)) in self.film.iter().enumerate() {
            let mut pen = Pen::default();
            draw(t, state, &mut pen);
            self.drawing.add(k, pen)?;
        }
        Ok(self)
    }

    /// The bodies of a scene, of which this is a run by any driver. Meshes are written whole.
    ///
    /// # Errors
    /// [`InputError::WrongLength`] for a run of another system; [`InputError::BadSetting`] for a body that is
    /// not that of the driver whose [`forces`](Self::forces) are drawn.
    #[cfg(feature = "compliant")]
    pub fn scene(mut self, scene: &'a Scene) -> Result<Self, InputError> {
        solids::check(scene, self.run)?;
        if let Some(driven) = &self.driven {
            made_again::check_same_bodies(scene, driven)?;
        }
        self.names = solids::names(scene);
        self.scene = Some(scene);
        Ok(self)
    }

    /// The contact forces of a run by this driver, each where it acts, on the body with the lower
    /// number, or against a fixed body on the moving one; and marks at the samples at which bodies
    /// touch that did not press in the one before, or part. A run does not keep them: the steps of the
    /// samples are made once more, by a copy of the driver, and give the forces up to the tolerance of
    /// its solver. Each has to end where the run went on, to ten times the tolerance of the solver in the mean
    /// speed of what is awake (what slept, to the speed of [`Sleep`](crate::compliant::Sleep)). Efforts that
    /// were given to a
    /// live run are not known to it, nor what terms were before they were changed: such a run is refused.
    /// Heavier bodies that move alike are told from those of the run by the [`scene`](Self::scene) alone.
    ///
    /// # Errors
    /// [`CompliantFailure::OtherRun`] for a run of which this driver does not make the steps; as
    /// [`Compliant::step`]; those of [`scene`](Self::scene) and of [`drawn`](Self::drawn).
    #[cfg(feature = "compliant")]
    pub fn forces(mut self, stepper: &Compliant<Scene>) -> Result<Self, CompliantFailure> {
        let driven = stepper.system();
        solids::check(driven, self.run)?;
        if let Some(scene) = self.scene {
            made_again::check_same_bodies(scene, driven)?;
        }
        let marks = solids::forces(stepper, self.run, &self.film, &mut self.drawing)?;
        self.marks.extend(marks);
        self.driven = Some(driven.clone());
        Ok(self)
    }

    /// Writes the page.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_html(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(BODY.as_bytes())?;
        out.write_all(b"<script type=\"application/json\" id=\"data\">")?;
        self.write_data(&mut out)?;
        for script in [SCENE_SCRIPT, PAGE_SCRIPT] {
            write!(out, "</script>\n<script>\n{script}")?;
        }
        out.write_all(b"</script>\n")
    }

    fn write_data(&self, out: &mut dyn Write) -> io::Result<()> {
        let film = &self.film;
        let mut marks = self.marks.clone();
        let thinned = thin(&mut marks);
        out.write_all(b"{\"title\":")?;
        write_text(out, &self.title)?;
        let doubts = self.run.statistics().doubts;
        let doubts = (doubts > 0).then(|| format!("Doubts: {doubts} (Run::doubts)."));
        let status = format!("Status of the run: {}.", self.run.status());
        let notes = std::iter::once(&status).chain(&film.notes);
        out.write_all(b",\n\"notes\":")?;
        write_list(out, notes.chain(&thinned).chain(&doubts), |out, note| {
            write_text(out, note)
        })?;
        out.write_all(b",\n\"times\":")?;
        write_numbers(out, &film.times)?;
        out.write_all(b",\n\"names\":")?;
        write_list(out, &self.names, |out, name| write_text(out, name))?;
        let rounding = (0..film.dim).map(|i| Rounding::of(film.largest(i)));
        let rounding: Vec<Rounding> = rounding.collect();
        out.write_all(b",\n\"exponents\":")?;
        write_list(out, &rounding, |out, of| write!(out, "{}", of.exponent))?;
        let mut states = Frames::default();
        for (_, state) in film.iter() {
            states.push(state.iter().zip(&rounding).map(|(&x, of)| of.steps(x)));
        }
        out.write_all(b",\n\"states\":")?;
        states.write(out)?;
        out.write_all(b",\n\"marks\":")?;
        write_marks(out, &marks)?;
        out.write_all(b",\n\"drawing\":")?;
        self.drawing.write(out)?;
        #[cfg(feature = "compliant")]
        if let Some(scene) = self.scene {
            out.write_all(b",\n\"bodies\":")?;
            solids::write_bodies(scene, out)?;
        }
        out.write_all(b"}")
    }
}
