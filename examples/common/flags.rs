//! Flags and exit codes: 0 done, 1 a picture could not be written, 2 a flag or a value makes no
//! sense.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

/// Result of anything an example does.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// A flag that makes no sense, in words for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BadFlag(String);

/// The flags that were passed and not yet read.
pub(crate) struct Flags(pico_args::Arguments);

/// Runs an example: prints `help` on `--help`, else calls `example` with the flags and the standard
/// output.
pub(crate) fn run(
    help: &str,
    example: impl FnOnce(Flags, &mut dyn Write) -> Outcome<()>,
) -> ExitCode {
    let mut flags = Flags(pico_args::Arguments::from_env());
    let mut out = io::stdout().lock();
    let outcome = if flags.switch("--help") || flags.switch("-h") {
        write!(out, "{help}").map_err(Into::into)
    } else {
        example(flags, &mut out)
    };
    let outcome = outcome.and_then(|()| Ok(out.flush()?));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            if error.is::<BadFlag>() || is_of_library(&*error) {
                eprintln!("--help lists the flags");
                return ExitCode::from(2);
            }
            ExitCode::FAILURE
        }
    }
}

/// True for the errors of all rooms of the library, and for the one over them.
fn is_of_library(error: &(dyn Error + 'static)) -> bool {
    error.is::<saltation::Error>()
        || error.is::<saltation::InputError>()
        || error.is::<saltation::Stop>()
        || error.is::<saltation::NoDerivative>()
        || error.is::<saltation::event_driven::Breakdown>()
        || error.is::<saltation::impact::ImpactFailure>()
        || error.is::<saltation::lcp::LcpFailure>()
        || error.is::<saltation::variational::VariationalFailure>()
        || error.is::<saltation::compliant::CompliantFailure>()
}

/// Who pipes the table into `head` is not told about it.
fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
}

/// Refuses a flag with `message` unless `condition` holds.
pub(crate) fn ensure(condition: bool, message: &str) -> Outcome<()> {
    if condition {
        Ok(())
    } else {
        Err(BadFlag(message.to_owned()).into())
    }
}

impl Flags {
    /// True when the flag `name` was passed.
    pub(crate) fn switch(&mut self, name: &'static str) -> bool {
        self.0.contains(name)
    }

    /// The first argument, if it is not a flag.
    #[allow(dead_code, reason = "few examples have one")]
    pub(crate) fn word(&mut self) -> Outcome<Option<String>> {
        Ok(self.0.subcommand()?)
    }

    /// The value of `name` as `read` understands it, if the flag was passed.
    pub(crate) fn read<T, E: Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Outcome<Option<T>> {
        let value: Option<String> = self
            .0
            .opt_value_from_str(name)
            .map_err(|_| BadFlag(format!("{name} needs a value")))?;
        let refuse = |value: &str, error| BadFlag(format!("{name} {value}: {error}"));
        Ok(value
            .map(|value| read(&value).map_err(|error| refuse(&value, error)))
            .transpose()?)
    }

    /// The number passed for `name`, else `default`.
    pub(crate) fn number<T>(&mut self, name: &'static str, default: T) -> Outcome<T>
    where
        T: FromStr<Err: Display>,
    {
        Ok(self.read(name, T::from_str)?.unwrap_or(default))
    }

    /// The last flag to be read: the folder for pictures. Flags that are left over are refused.
    pub(crate) fn pictures(mut self) -> Outcome<PathBuf> {
        let folder = self.read("--pictures", PathBuf::from_str)?;
        let rest = self.0.finish();
        let rest: Vec<_> = rest.iter().map(|flag| flag.to_string_lossy()).collect();
        ensure(
            rest.is_empty(),
            &format!("not understood: {}", rest.join(" ")),
        )?;
        // A folder that is not tracked: some pictures show the times of the machine.
        Ok(folder.unwrap_or_else(|| PathBuf::from("target/pictures")))
    }
}
