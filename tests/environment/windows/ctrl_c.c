/* Presses Ctrl-C for a program: ctrl_c FILE SIZE COMMAND. Runs the command line in this program's console, waits
 * until the file is larger than so many bytes, and ends as the command does.
 */

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static DWORD failed(const char *what)
{
    fprintf(stderr, "ctrl_c: %s: error %lu\n", what, GetLastError());
    return 99;
}

static long size_of(const char *path)
{
    WIN32_FILE_ATTRIBUTE_DATA data;
    return GetFileAttributesExA(path, GetFileExInfoStandard, &data) ? (long)data.nFileSizeLow : -1;
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 98;
    STARTUPINFOA start = {sizeof start};
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    /* Without a terminal Wine has a console in name only. */
    DWORD processes[2];
    if (!GetConsoleProcessList(processes, 2) && FreeConsole() && !AllocConsole())
        return failed("no console");
    PROCESS_INFORMATION program;
    if (!CreateProcessA(NULL, arguments[3], NULL, NULL, TRUE, 0, NULL, NULL, &start, &program))
        return failed("the program does not start");
    DWORD status;
    while (size_of(arguments[1]) <= atol(arguments[2])) {
        if (WaitForSingleObject(program.hProcess, 20) == WAIT_OBJECT_0) {
            GetExitCodeProcess(program.hProcess, &status);
            fprintf(stderr, "ctrl_c: it ended by itself\n");
            return status;
        }
    }
    /* This program is in the same console. */
    SetConsoleCtrlHandler(NULL, TRUE);
    if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
        return failed("no Ctrl-C");
    WaitForSingleObject(program.hProcess, 60000);
    GetExitCodeProcess(program.hProcess, &status);
    return status;
}
