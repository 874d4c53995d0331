//! What teachers read: grades, and which bots decide alike.

pub mod alike;
pub mod grades;
pub mod student_page;
