//! A real browser without a window: Chromium, driven through `chromedriver` by the `WebDriver`
//! protocol (<https://www.w3.org/TR/webdriver2/>). It needs only a few JSON requests to this machine,
//! so no crate is used.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hangs::HANGS;
use crate::requirements::program;

/// The programs that must be in the search path, and their Debian packages. The browser has
/// different names on different systems; one is enough.
const DRIVER: (&str, &str) = ("chromedriver", "chromium-driver");
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

pub(crate) type Result<T> = std::result::Result<T, String>;

/// A missing program and the package that has it.
pub(crate) fn missing() -> Option<(&'static str, &'static str)> {
    if program(DRIVER.0, &[]).is_none() {
        return Some(DRIVER);
    }
    let found = BROWSERS
        .iter()
        .any(|browser| program(browser, &[]).is_some());
    (!found).then_some(("chromium", "chromium"))
}

/// One window, and the processes behind it. They end when it is dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Kept open, so that the driver can write to it.
    _said: BufReader<ChildStdout>,
    /// The browser's profile directory.
    profile: TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.call("DELETE", "", None);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    /// Starts one.
    pub(crate) fn start() -> Result<Self> {
        let profile = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (driver, output, port) = start_driver()?;
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            _said: output,
            profile,
        };
        let arguments = [
            "--headless=new".to_owned(),
            // Required as root; the pages are the test's own.
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--hide-scrollbars".to_owned(),
            format!("--user-data-dir={}", browser.profile.path().display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
            "unhandledPromptBehavior": "ignore",
        }}});
        let session = browser.request("POST", "/session", Some(&wanted))?;
        let id = session["sessionId"].as_str().ok_or("no session")?;
        id.clone_into(&mut browser.session);
        Ok(browser)
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let body = body.map_or_else(String::new, Value::to_string);
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        stream
            .set_read_timeout(Some(HANGS))
            .map_err(|e| e.to_string())?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .map_err(|e| e.to_string())?;
        let body = body_of(&mut BufReader::new(stream)).map_err(|e| format!("{path}: {e}"))?;
        let answer: Value = serde_json::from_str(&body).map_err(|e| format!("{e}: {body}"))?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!(
                "{method} {path}: {error}: {}",
                answer["value"]["message"]
            )),
            None => Ok(answer["value"].clone()),
        }
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        self.request(method, &format!("/session/{}{path}", self.session), body)
    }

    /// A command of Chromium's `DevTools` protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Result<Value> {
        let body = json!({"cmd": command, "params": parameters});
        self.call("POST", "/goog/cdp/execute", Some(&body))
    }

    /// Navigates to an address. A page that only differs in the part after `#` is not loaded again.
    pub(crate) fn go(&self, url: &str) -> Result<()> {
        self.call("POST", "/url", Some(&json!({"url": url})))?;
        Ok(())
    }

    /// Runs a script in the page and returns its result.
    pub(crate) fn run(&self, script: &str) -> Result<Value> {
        let body = json!({"script": script, "args": []});
        self.call("POST", "/execute/sync", Some(&body))
            .map_err(|error| format!("{error}\n{script}"))
    }

    /// A text that a script returns.
    pub(crate) fn text(&self, script: &str) -> Result<String> {
        text_of(&self.run(script)?, script)
    }

    /// A number that a script returns.
    pub(crate) fn number(&self, script: &str) -> Result<f64> {
        let value = self.run(script)?;
        value
            .as_f64()
            .ok_or_else(|| format!("{value} is no number: {script}"))
    }

    /// Waits until a script returns something true.
    pub(crate) fn wait(&self, script: &str) -> Result<()> {
        let deadline = Instant::now() + HANGS;
        while self.run(script)? != Value::Bool(true) {
            if Instant::now() > deadline {
                let page = self.text("return document.body.innerText.slice(0, 1500)")?;
                return Err(format!("never: {script}\n{page}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Types, as with a keyboard, to whatever has the focus. Keys are characters or the code
    /// points that `WebDriver` has for others.
    pub(crate) fn keys(&self, keys: &[char]) -> Result<()> {
        let mut actions = Vec::new();
        for key in keys {
            actions.push(json!({"type": "keyDown", "value": key.to_string()}));
            actions.push(json!({"type": "keyUp", "value": key.to_string()}));
        }
        let body = json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]});
        self.call("POST", "/actions", Some(&body))?;
        Ok(())
    }

    /// Does something with the first element of a CSS selector. A page that changes by itself may not have it yet, or have
    /// drawn it anew meanwhile.
    fn with_element(&self, selector: &str, action: &str, body: &Value) -> Result<()> {
        const NOT_YET: [&str; 2] = ["no such element", "stale element"];
        let wanted = json!({"using": "css selector", "value": selector});
        let deadline = Instant::now() + HANGS;
        loop {
            let attempt = self
                .call("POST", "/element", Some(&wanted))
                .and_then(|found| {
                    let id = found.as_object().and_then(|found| found.values().next());
                    let id = id.and_then(Value::as_str).ok_or("no element")?;
                    self.call("POST", &format!("/element/{id}/{action}"), Some(body))
                });
            match attempt {
                Err(error)
                    if NOT_YET.iter().any(|reason| error.contains(reason))
                        && Instant::now() < deadline =>
                {
                    thread::sleep(Duration::from_millis(20));
                }
                done => return done.map(|_| ()),
            }
        }
    }

    /// Clicks the first element of a CSS selector, as with a mouse.
    pub(crate) fn click(&self, selector: &str) -> Result<()> {
        self.with_element(selector, "click", &json!({}))
    }

    /// Chooses a file for the first element of a CSS selector.
    #[allow(dead_code, reason = "tests/class_pages uses it")]
    pub(crate) fn choose(&self, selector: &str, file: &str) -> Result<()> {
        self.with_element(selector, "value", &json!({ "text": file }))
    }

    /// The page as it is now, also where its scripts do not run.
    #[allow(dead_code, reason = "tests/class_pages uses it")]
    pub(crate) fn source(&self) -> Result<String> {
        text_of(&self.call("GET", "/source", None)?, "the page")
    }

    /// Goes into a frame of the page, by its place; scripts run there until the next page.
    pub(crate) fn within_frame(&self, place: u32) -> Result<()> {
        self.call("POST", "/frame", Some(&json!({"id": place})))?;
        Ok(())
    }

    /// Sets the window's size, of a phone or a desktop.
    pub(crate) fn size(&self, width: u32, height: u32, mobile: bool) -> Result<()> {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.devtools("Emulation.setDeviceMetricsOverride", &size)?;
        Ok(())
    }

    /// Sets a media preference: `("prefers-color-scheme", "dark")`.
    pub(crate) fn prefers(&self, feature: &str, value: &str) -> Result<()> {
        let features = json!({"features": [{"name": feature, "value": value}]});
        self.devtools("Emulation.setEmulatedMedia", &features)?;
        Ok(())
    }

    /// A picture of the window, PNG in base 64.
    pub(crate) fn picture(&self) -> Result<String> {
        text_of(&self.call("GET", "/screenshot", None)?, "the picture")
    }

    /// The messages in the page's console since the last call, with errors and violations of its
    /// policy.
    pub(crate) fn console(&self) -> Result<Vec<String>> {
        let log = self.call("POST", "/se/log", Some(&json!({"type": "browser"})))?;
        let entries = log.as_array().cloned().unwrap_or_default();
        Ok(entries
            .iter()
            .map(|entry| format!("{}: {}", entry["level"], entry["message"]))
            .collect())
    }

    /// An error when the page has written anything to its console.
    pub(crate) fn is_quiet(&self) -> Result<()> {
        let output = self.console()?;
        if output.is_empty() {
            return Ok(());
        }
        Err(format!("the console: {}", output.join("\n")))
    }
}

fn text_of(value: &Value, what: &str) -> Result<String> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| format!("{value} is no text: {what}"))
}

/// How often a driver is started: one whose port was taken in the same moment ends.
const STARTS: usize = 5;

/// A driver, what it says, and its port.
fn start_driver() -> Result<(Child, BufReader<ChildStdout>, u16)> {
    for _ in 0..STARTS {
        let mut driver = Command::new(DRIVER.0)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        let mut output = BufReader::new(driver.stdout.take().ok_or("no output")?);
        if let Some(port) = port(&mut output) {
            return Ok((driver, output, port));
        }
        let _ = driver.kill();
        let _ = driver.wait();
    }
    Err(format!("chromedriver named no port, {STARTS} times"))
}

/// The port that the driver says it listens on.
fn port(output: &mut impl BufRead) -> Option<u16> {
    let mut line = String::new();
    while output.read_line(&mut line).ok()? > 0 {
        if let Some((_, rest)) = line.split_once("on port ") {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            // The first such line names the port that was asked for: 0.
            if let Some(port) = digits.parse().ok().filter(|&port| port > 0) {
                return Some(port);
            }
        }
        line.clear();
    }
    None
}

/// The body of an answer; the driver keeps the connection open after it.
fn body_of(answer: &mut impl BufRead) -> std::io::Result<String> {
    let mut length = 0;
    let mut line = String::new();
    while answer.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}
