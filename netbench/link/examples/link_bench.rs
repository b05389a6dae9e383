//! Measures the link and prints the figures as JSON: `link_bench [auto|user|tun|netem|none]`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let choice = std::env::args().nth(1).unwrap_or_else(|| "auto".to_owned());
    let figures = choice
        .parse()
        .and_then(|choice| netbench_link::bench::run_bench(choice).map_err(|e| e.to_string()))
        .and_then(|bench| serde_json::to_string_pretty(&bench).map_err(|e| e.to_string()));
    match figures {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
