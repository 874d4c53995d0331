//! The part of a tournament that a job of a scheduler is to play.

use std::env;

use crate::arena::shard::Shard;

/// Reads `I/N`, `auto` or `auto/N`.
pub(super) fn shard(text: &str) -> Result<Shard, String> {
    match text.strip_prefix("auto") {
        Some(rest) => {
            let count = rest.strip_prefix('/').map(|count| {
                let count = count.parse::<u64>().ok().filter(|&count| count > 0);
                count.ok_or_else(|| format!("{text}: expected auto/N, such as auto/8"))
            });
            automatic(count.transpose()?, |name| env::var(name).ok())
        }
        None => text.parse().map_err(|error| format!("{error}")),
    }
}

/// Reads the shard from a scheduler's environment.
fn automatic(
    count: Option<u64>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Shard, String> {
    let count_or = |of_array: Option<u64>| count.or(of_array);
    let number = |name: &str| -> Result<Option<u64>, String> {
        variable(name)
            .map(|text| {
                let number = text.trim().parse();
                number.map_err(|_| format!("{name} is {text:?}; expected a number"))
            })
            .transpose()
    };
    // Of jobs that are no array jobs: SGE sets `undefined`, LSF 0.
    let of_array = |name: &str| -> Result<Option<u64>, String> {
        match variable(name).as_deref() {
            None | Some("undefined" | "0") => Ok(None),
            Some(_) => number(name),
        }
    };
    let (index, count, names) = if let Some(id) = of_array("SGE_TASK_ID")? {
        let (place, count) = stepped(
            id,
            number("SGE_TASK_FIRST")?,
            number("SGE_TASK_LAST")?,
            number("SGE_TASK_STEPSIZE")?,
        );
        (place, count_or(count), "SGE_TASK_LAST")
    } else if let Some(id) = of_array("LSB_JOBINDEX")? {
        // Arrays of LSF begin anywhere; where is not in the environment, so they must begin with 1.
        let last = number("LSB_JOBINDEX_END")?;
        let (place, count) = stepped(id, Some(1), last, number("LSB_JOBINDEX_STEP")?);
        (place, count_or(count), "LSB_JOBINDEX_END")
    } else if let Some(id) = number("PBS_ARRAY_INDEX")?.or(number("PBS_ARRAYID")?) {
        (id, count, "the size of a PBS array")
    } else if let Some(id) = number("SLURM_ARRAY_TASK_ID")? {
        let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(1);
        let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
        let index = id.saturating_sub(first) / step + 1;
        let of_array = number("SLURM_ARRAY_TASK_COUNT")?;
        (index, count.or(of_array), "SLURM_ARRAY_TASK_COUNT")
    } else if let Some(index) = number("JOB_COMPLETION_INDEX")? {
        let of_job = number("REFEREE_SHARDS")?;
        (index + 1, count.or(of_job), "REFEREE_SHARDS")
    } else {
        return Err(
            "auto needs SLURM_ARRAY_TASK_ID, SGE_TASK_ID, LSB_JOBINDEX, PBS_ARRAY_INDEX or \
             JOB_COMPLETION_INDEX in the environment; give the shard itself, such as 3/8"
                .to_owned(),
        );
    };
    let count = count.ok_or_else(|| format!("{names} is not set; give the number, as auto/8"))?;
    if !(1..=count).contains(&index) {
        return Err(format!("there is no shard {index} of {count}"));
    }
    Ok(Shard { index, count })
}

/// The place of a number in `first`, `first` + `step`, … `last`, and how many there are.
fn stepped(
    number: u64,
    first: Option<u64>,
    last: Option<u64>,
    step: Option<u64>,
) -> (u64, Option<u64>) {
    let first = first.unwrap_or(1);
    let step = step.unwrap_or(1).max(1);
    let place = number.saturating_sub(first) / step + 1;
    (
        place,
        last.map(|last| last.saturating_sub(first) / step + 1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(count: Option<u64>, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        automatic(count, variable).map(|shard| shard.to_string())
    }

    #[test]
    fn shards_are_read_from_the_environment_of_schedulers() {
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "4"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_COUNT", "8"),
        ];
        assert_eq!(auto(None, &slurm).as_deref(), Ok("4/8"));
        let from_zero = [
            ("SLURM_ARRAY_TASK_ID", "6"),
            ("SLURM_ARRAY_TASK_MIN", "0"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
        ];
        assert_eq!(auto(None, &from_zero).as_deref(), Ok("4/4"));
        let kubernetes = [("JOB_COMPLETION_INDEX", "0"), ("REFEREE_SHARDS", "5")];
        assert_eq!(auto(None, &kubernetes).as_deref(), Ok("1/5"));
        assert_eq!(auto(Some(3), &kubernetes[..1]).as_deref(), Ok("1/3"));
        let sge = [
            ("SGE_TASK_ID", "5"),
            ("SGE_TASK_FIRST", "1"),
            ("SGE_TASK_LAST", "15"),
            ("SGE_TASK_STEPSIZE", "2"),
        ];
        assert_eq!(auto(None, &sge).as_deref(), Ok("3/8"));
        assert!(auto(None, &[("SGE_TASK_ID", "undefined")]).is_err());
        let lsf = [("LSB_JOBINDEX", "8"), ("LSB_JOBINDEX_END", "8")];
        assert_eq!(auto(None, &lsf).as_deref(), Ok("8/8"));
        assert!(auto(None, &[("LSB_JOBINDEX", "0")]).is_err());
        let pbs = [("PBS_ARRAY_INDEX", "2")];
        assert_eq!(auto(Some(4), &pbs).as_deref(), Ok("2/4"));
        assert!(auto(None, &pbs).unwrap_err().contains("auto/8"));
        assert_eq!(auto(Some(4), &[("PBS_ARRAYID", "4")]).as_deref(), Ok("4/4"));
        assert!(auto(None, &kubernetes[..1]).is_err());
        assert!(auto(None, &[]).is_err());
        assert!(auto(Some(3), &slurm).is_err());
    }
}
