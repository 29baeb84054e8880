# fish completion for asyncdbg(1), written by scripts/help_files.py: do not edit

# The command typed so far, without options and their values, a word a line.
function __asyncdbg_words
    set -l words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip -gt 0
            set skip (math $skip - 1)
            continue
        end
        switch $word
            case --after
                set skip 1
            case --color
                set skip 1
            case --core
                set skip 1
            case --count
                set skip 1
            case --cwd
                set skip 1
            case --dot
                set skip 1
            case --duration
                set skip 1
            case --events
                set skip 1
            case --every
                set skip 1
            case --exe
                set skip 1
            case --exec
                set skip 1
            case --execute
                set skip 1
            case --fail-on
                set skip 1
            case --for
                set skip 1
            case --format
                set skip 1
            case --group
                string match -qr '^(tasks|top)( |$)' -- "$words"; and set skip 1
            case --interval
                set skip 1
            case --keep
                string match -qr '^(check)( |$)' -- "$words"; and set skip 1
            case --layout
                set skip 1
            case --limit
                set skip 1
            case --listen
                set skip 1
            case --log
                set skip 1
            case --max-pause
                set skip 1
            case --name
                set skip 1
            case --on
                set skip 1
            case --on-done
                set skip 1
            case --on-drop
                set skip 1
            case --on-resume
                set skip 1
            case --on-spawn
                set skip 1
            case --on-wake
                set skip 1
            case --output
                set skip 1
            case --over
                set skip 1
            case --pid
                set skip 1
            case --rate
                set skip 1
            case --report
                set skip 1
            case --ring
                set skip 1
            case --rows
                set skip 1
            case --run
                set skip 1
            case --run-limit
                set skip 1
            case --save
                set skip 1
            case --script
                set skip 1
            case --silence
                set skip 1
            case --sort
                set skip 1
            case --source-map
                set skip 1
            case --task
                set skip 1
            case --timeout
                set skip 1
            case --unit
                set skip 1
            case --usdt
                set skip 1
            case --when
                set skip 1
            case --with
                set skip 2
            case --without
                set skip 2
            case -c
                set skip 1
            case -e
                set skip 1
            case -o
                set skip 1
            case -p
                set skip 1
            case -x
                set skip 1
            case '-*'
            case '*'
                # The target: digits are a process, a word with a slash an executable or core.
                test -z "$words"; and string match -qr '^[0-9]+$|/' -- $word; or set -a words $word
        end
    end
    test "$words[1]" = help; and set -e words[1]
    test -z "$words"; or printf '%s\n' $words
end

# Whether the command typed so far is exactly one of $argv.
function __asyncdbg_typed
    contains -- (string join ' ' -- (__asyncdbg_words)) $argv
end

# Whether the command typed so far is one of $argv, with or without arguments.
function __asyncdbg_in
    set -l typed (string join ' ' -- (__asyncdbg_words))' '
    for name in $argv
        string match -q -- "$name *" $typed; and return 0
    end
    return 1
end

complete -c asyncdbg -f
complete -c asyncdbg -s c -l core -r -F -d 'Look at a core dump or a saved snapshot'
complete -c asyncdbg -l exe -r -F -d 'Executable to use instead of the one recorded'
complete -c asyncdbg -l force -d 'Accept files whose build-id differs'
complete -c asyncdbg -l layout -r -F -d 'Use a file written by `layout` for debug info'
complete -c asyncdbg -l max-pause -x -d 'Stop the process for at most TIME, such as 5ms or 500us'
complete -c asyncdbg -l name -x -d 'Look at the running process whose name matches this regular expression'
complete -c asyncdbg -l no-cache -d 'Neither read nor write the cache of debug info'
complete -c asyncdbg -l no-stop -d 'Never stop the process'
complete -c asyncdbg -s p -l pid -x -a '(__fish_complete_pids)' -d 'Look at a running process'
complete -c asyncdbg -l source-map -x -d 'Source files of the build directory FROM are below TO'
complete -c asyncdbg -l stop-all -d 'Stop every thread, even those asleep in a pool that cannot matter'
complete -c asyncdbg -l unit -x -d 'Look at the running process of this systemd unit, by its cgroup'
complete -c asyncdbg -l batch -d 'No prompt, even on a terminal'
complete -c asyncdbg -s e -l execute -x -d 'Run commands'
complete -c asyncdbg -s x -l script -r -F -d 'Run the commands of a file, - for standard input'
complete -c asyncdbg -l ascii -d 'Draw trees in ASCII'
complete -c asyncdbg -l color -x -a 'auto always never' -d 'Use color'
complete -c asyncdbg -l full-names -d 'Print type and function names in full'
complete -c asyncdbg -l json -d 'Print one JSON document per command'
complete -c asyncdbg -l jsonl -d 'Same, with one line per task'
complete -c asyncdbg -l log -x -d 'Debug log to standard error'
complete -c asyncdbg -s o -l output -r -F -d 'Output file of async graph, layout, metrics, profile, report, save or trace'
complete -c asyncdbg -l show-secrets -d 'Also show the values of variables, members and headers whose names suggest a secret'
complete -c asyncdbg -s v -l verbose -d 'Show the variables of every frame, like -v of a command'
complete -c asyncdbg -l help -d 'Give this help list'
complete -c asyncdbg -l usage -d 'Give a short usage message'
complete -c asyncdbg -s V -l version -d 'Print program version'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a async -d 'Commands: backtrace, task, graph, deadlocks'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a task -d 'Select a task, and show the selected frame'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a frame -d 'Select frame N of the task or thread, and show it'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a up -d 'Select the frame that awaits or calls the selected one'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a down -d 'Select the frame that the selected one awaits or calls'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a list -d 'List source lines around the selected frame, or another place'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a disassemble -d 'Disassemble the selected function, or another one'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a x -d 'Examine memory: x/8xb $sp, x/s 0x7f00, x/4i $pc'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a locals -d 'Print the variables of the selected frame'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a print -d 'Print a variable or static, or a path from it'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a whatis -d 'Identify an address: a task, a frame, a lock, a stack, a module'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a type -d 'Show a type: members with offsets, variants or coroutine states'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a types -d 'List types whose names match, with their sizes'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a tasks -d 'List tasks, one per line: state, where each awaits, what it waits for'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a runtimes -d 'List runtimes, one per line: flavor, workers, tasks, queues'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a threads -d 'Show the native stacks of all threads, joined with the async stacks they poll'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a thread -d 'Select thread N and show its stack'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a bt -d 'Show the native stack of the selected thread, or its N innermost frames'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a check -d 'Diagnose the program: deadlocks, blocked workers, starved queues and more'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a ps -d 'List async processes on this machine: executor, tasks, debug info, missing permissions'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a guard -d 'Run a command, such as a test, and show what it is waiting for if it hangs'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a trace -d 'Print events of tasks and workers as they happen'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a probes -d 'Show the places in the code where trace observes events'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a stalls -d 'Report long polls, with their stacks, while they are still running'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a metrics -d 'Export counters and histograms of tasks and workers for Prometheus'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a profile -d 'Profile where tasks spend their time, by await chain'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a top -d 'Show live activity of tasks, groups of tasks and workers'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a info -d 'Show the target, and how completely it could be read'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a layout -d 'Write a layout file: the part of the debug info that a stripped copy needs'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a save -d 'Save a snapshot to a small file, to be opened with -c FILE'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a diff -d 'Compare two moments: saved snapshots, cores, or a live process'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a report -d 'Write a self-contained HTML report'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a run -d 'Start a program and run it to the first breakpoint'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a attach -d 'Attach to a process and stop it; without PID, to the one given by -p'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a continue -d 'Continue the program until a breakpoint, a signal or its end'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a detach -d 'Detach; the program continues with its original code'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a kill -d 'Kill the program'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a stepi -d 'Execute one instruction, or N, of the selected thread; others stay stopped'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a next -d 'Step to the next line of the function, over calls and awaits; N times'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a step -d 'Step to the next line, into functions and awaited async functions; N times'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a finish -d 'Run until the function returns (async: until it completes)'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a until -d 'Run to a later line of the function, or to LINE or beyond'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a nexti -d 'Execute one instruction, or N, over calls'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a break -d 'Set a breakpoint at a line or a function'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a tbreak -d 'Set a breakpoint that is deleted at its first hit'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a logpoint -d 'Set a logpoint: print a line at a place, and continue'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a condition -d 'Set or remove the condition of a breakpoint or watchpoint'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a catch -d 'Stop at a panic or a deadlock'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a handle -d 'Set how signals of the program are handled'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a signal -d 'Continue, delivering this signal, or none, in place of the one that stopped the thread'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a interrupt -d 'Stop the program, which runs only while a command waits: ^C does it'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a watch -d 'Set a watchpoint: stop when a value changes'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a rwatch -d 'Set a watchpoint: stop when a value is read'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a awatch -d 'Set a watchpoint: stop when a value is read or written'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a delete -d 'Delete breakpoints by number, or all'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a enable -d 'Enable breakpoints by number, or all'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a disable -d 'Disable breakpoints by number, or all'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a set -d 'Set a variable of the debugged program, or where source files are'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a dap -d 'Serve an editor: the Debug Adapter Protocol on standard input and output'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a help -d 'List commands, or explain one'
complete -c asyncdbg -n '__asyncdbg_typed ""' -a quit -d 'Quit; a live target keeps running'
complete -c asyncdbg -n '__asyncdbg_typed "async"' -a backtrace -d 'Show threads in block_on, workers, and the task each worker is running'
complete -c asyncdbg -n '__asyncdbg_typed "async"' -a task -d 'Show one task or blocking job in full; without an ID, the selected task'
complete -c asyncdbg -n '__asyncdbg_typed "async"' -a graph -d 'Show the wait-for graph: tasks, locks, channels, and their owners'
complete -c asyncdbg -n '__asyncdbg_typed "async"' -a deadlocks -d 'Show deadlocked tasks, and why they cannot proceed'
complete -c asyncdbg -n '__asyncdbg_typed "async backtrace"' -a all -d 'Show those and every task of every runtime'
complete -c asyncdbg -n '__asyncdbg_typed "bt"' -a all -d 'Show the native stacks of all threads'
complete -c asyncdbg -n '__asyncdbg_typed "info"' -a layout -d 'Show every path into the runtime\'s structures, and the alternative that matched'
complete -c asyncdbg -n '__asyncdbg_typed "info"' -a sockets -d 'Show the sockets of a live process, and the tasks that wait for or hold them'
complete -c asyncdbg -n '__asyncdbg_typed "info"' -a threads -d 'List threads, one per line: role, runtime, queue, state'
complete -c asyncdbg -n '__asyncdbg_typed "info"' -a locals -d 'Same as locals'
complete -c asyncdbg -n '__asyncdbg_typed "info"' -a registers -d 'Show the registers of the selected native frame'
complete -c asyncdbg -n '__asyncdbg_typed "info"' -a signals -d 'Show how signals of the program are handled'
complete -c asyncdbg -n '__asyncdbg_typed "info"' -a breakpoints -d 'List breakpoints, with their places and hits'
complete -c asyncdbg -n '__asyncdbg_typed "async bt"' -a all -d 'Show those and every task of every runtime'
complete -c asyncdbg -n '__asyncdbg_in "async backtrace all" "async bt all"' -l group -d 'Show tasks with identical chains once, with their number'
complete -c asyncdbg -n '__asyncdbg_in "async backtrace all" "async bt all"' -l no-group -d 'Show each task, even if there are many on a terminal'
complete -c asyncdbg -n '__asyncdbg_in "async backtrace all" "async bt all"' -l with -x -a 'id kind state runtime type spawned_at defined_at function location waiting_on task object armed thread span problem depth frames leaves remaining_ms queued position permits_missing send_queue retransmits http_role http_version http_phase http_method http_path http_queued http_streams task_name task_number' -d 'Show only tasks whose FIELD matches'
complete -c asyncdbg -n '__asyncdbg_in "async backtrace all" "async bt all"' -l without -x -a 'id kind state runtime type spawned_at defined_at function location waiting_on task object armed thread span problem depth frames leaves remaining_ms queued position permits_missing send_queue retransmits http_role http_version http_phase http_method http_path http_queued http_streams task_name task_number' -d 'Show only tasks whose FIELD does not match'
complete -c asyncdbg -n '__asyncdbg_in "async backtrace all" "async bt all"' -l limit -x -d 'Show only the first N'
complete -c asyncdbg -n '__asyncdbg_in "async graph"' -l format -x -a 'dot' -d 'Format of that file'
complete -c asyncdbg -n '__asyncdbg_in "async graph"' -l dot -r -F -d 'Same as -o FILE'
complete -c asyncdbg -n '__asyncdbg_in disassemble' -l intel -d 'Use Intel syntax, with the destination first'
complete -c asyncdbg -n '__asyncdbg_in types' -l limit -x -d 'Show only the first N types'
complete -c asyncdbg -n '__asyncdbg_in tasks' -l group -x -a 'id kind state runtime type spawned_at defined_at function location waiting_on task object armed thread span problem depth frames leaves remaining_ms queued position permits_missing send_queue retransmits http_role http_version http_phase http_method http_path http_queued http_streams task_name task_number' -d 'Count the tasks for each value of FIELD'
complete -c asyncdbg -n '__asyncdbg_in tasks' -l with -x -a 'id kind state runtime type spawned_at defined_at function location waiting_on task object armed thread span problem depth frames leaves remaining_ms queued position permits_missing send_queue retransmits http_role http_version http_phase http_method http_path http_queued http_streams task_name task_number' -d 'Show only tasks whose FIELD matches'
complete -c asyncdbg -n '__asyncdbg_in tasks' -l without -x -a 'id kind state runtime type spawned_at defined_at function location waiting_on task object armed thread span problem depth frames leaves remaining_ms queued position permits_missing send_queue retransmits http_role http_version http_phase http_method http_path http_queued http_streams task_name task_number' -d 'Show only tasks whose FIELD does not match'
complete -c asyncdbg -n '__asyncdbg_in tasks' -l limit -x -d 'Show only the first N'
complete -c asyncdbg -n '__asyncdbg_in tasks' -l exec -x -d 'Run COMMAND for each task'
complete -c asyncdbg -n '__asyncdbg_in check' -l fail-on -x -a 'deadlock futurelock no-waker blocked-worker long-poll starved-queue timer-overdue panicked-task closed-channel-wait huge-future many-identical deadlock:possible futurelock:possible no-waker:possible long-poll:possible timer-overdue:possible closed-channel-wait:possible' -d 'Exit with 3 if one of these checks, separated by commas, finds anything'
complete -c asyncdbg -n '__asyncdbg_in check' -l interval -x -d 'Time between the two looks at a live process, default 1s'
complete -c asyncdbg -n '__asyncdbg_in check' -l every -x -d 'Check a live process every TIME'
complete -c asyncdbg -n '__asyncdbg_in check' -l for -x -d 'Report a finding after N checks in a row have found it, default 2'
complete -c asyncdbg -n '__asyncdbg_in check' -l on -x -a 'deadlock futurelock no-waker blocked-worker long-poll starved-queue timer-overdue panicked-task closed-channel-wait huge-future many-identical deadlock:possible futurelock:possible no-waker:possible long-poll:possible timer-overdue:possible closed-channel-wait:possible' -d 'Report these checks, as in --fail-on'
complete -c asyncdbg -n '__asyncdbg_in check' -l save -r -F -d 'Write a snapshot and a report of each reported finding to DIR'
complete -c asyncdbg -n '__asyncdbg_in check' -l keep -x -d 'Keep the N newest of each program, default 10'
complete -c asyncdbg -n '__asyncdbg_in check' -l run -x -d 'Run COMMAND with /bin/sh, with the finding as JSON on its standard input'
complete -c asyncdbg -n '__asyncdbg_in check' -l run-limit -x -d 'Kill COMMAND after TIME, default 1m'
complete -c asyncdbg -n '__asyncdbg_in ps' -l tasks -d 'Count the tasks of all processes'
complete -c asyncdbg -n '__asyncdbg_in guard' -l timeout -x -d 'Kill the command if it runs longer than TIME'
complete -c asyncdbg -n '__asyncdbg_in guard' -l silence -x -d 'Kill the command if it writes nothing to its output for TIME'
complete -c asyncdbg -n '__asyncdbg_in guard' -l report -r -F -d 'Write a snapshot and a report of each async process to DIR'
complete -c asyncdbg -n '__asyncdbg_in trace' -l duration -x -d 'Stop after TIME'
complete -c asyncdbg -n '__asyncdbg_in trace' -l events -x -a 'task-spawn task-poll-start task-poll-end task-terminate worker-thread-start worker-thread-stop worker-thread-park worker-thread-unpark task-wake' -d 'Show only these events, separated by commas'
complete -c asyncdbg -n '__asyncdbg_in trace' -l with -x -a 'id type' -d 'Show only events of the task with this id, or of tasks whose type contains VALUE'
complete -c asyncdbg -n '__asyncdbg_in trace' -l over -x -d 'Show only polls longer than TIME'
complete -c asyncdbg -n '__asyncdbg_in trace' -l no-places -d 'Leave out where tasks wait'
complete -c asyncdbg -n '__asyncdbg_in trace' -l usdt -x -d 'Also show static probes'
complete -c asyncdbg -n '__asyncdbg_in trace' -l usdt-strings -d 'Show the text that arguments of these probes point to'
complete -c asyncdbg -n '__asyncdbg_in trace' -l allow-slow -d 'Also use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_in trace' -l ring -x -d 'Keep the last events in SIZE bytes of memory'
complete -c asyncdbg -n '__asyncdbg_in trace' -l when -x -a 'poll\\>50ms runnable\\>100ms alive\\>1000 deadlock death' -d 'Write FILE on \'poll>TIME\', \'runnable>TIME\', \'alive>N\', deadlock or death'
complete -c asyncdbg -n '__asyncdbg_in trace' -l count -x -d 'Write FILE, FILE.2 and so on up to N, then exit'
complete -c asyncdbg -n '__asyncdbg_in trace' -l every -x -d 'Check for one every TIME, default 10s'
complete -c asyncdbg -n '__asyncdbg_in trace' -l format -x -a 'text perfetto' -d 'Format'
complete -c asyncdbg -n '__asyncdbg_in probes' -l format -x -a 'text bpftrace' -d 'Format'
complete -c asyncdbg -n '__asyncdbg_in probes' -l allow-slow -d 'Also show points that need a single step'
complete -c asyncdbg -n '__asyncdbg_in stalls' -l over -x -d 'Report polls longer than TIME, default 10ms'
complete -c asyncdbg -n '__asyncdbg_in stalls' -l duration -x -d 'Stop after TIME'
complete -c asyncdbg -n '__asyncdbg_in stalls' -l allow-slow -d 'Also use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_in metrics' -l duration -x -d 'Stop after TIME'
complete -c asyncdbg -n '__asyncdbg_in metrics' -l every -x -d 'Write again every TIME'
complete -c asyncdbg -n '__asyncdbg_in metrics' -l over -x -d 'Count polls longer than TIME as slow, default 10ms'
complete -c asyncdbg -n '__asyncdbg_in metrics' -l allow-slow -d 'Also use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_in profile' -l duration -x -d 'Stop after TIME, default 10s'
complete -c asyncdbg -n '__asyncdbg_in profile' -l allow-slow -d 'Also use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_in profile' -l format -x -a 'text folded pprof html' -d 'Format'
complete -c asyncdbg -n '__asyncdbg_in profile' -l cpu -d 'Also show which functions run in polls, by sampling'
complete -c asyncdbg -n '__asyncdbg_in profile' -l rate -x -d 'Samples per second of each thread on a CPU, default 99'
complete -c asyncdbg -n '__asyncdbg_in top' -l interval -x -d 'Time between frames, default 1s'
complete -c asyncdbg -n '__asyncdbg_in top' -l count -x -d 'Stop after N frames'
complete -c asyncdbg -n '__asyncdbg_in top' -l sort -x -a 'id type place tasks polls busy longest p99 runnable wakes own' -d 'Sort by id, type, place, tasks, polls, busy, longest, p99, runnable, wakes or own'
complete -c asyncdbg -n '__asyncdbg_in top' -l group -x -a 'type place' -d 'Show one row for all tasks with the same type or place'
complete -c asyncdbg -n '__asyncdbg_in top' -l with -x -a 'id type place' -d 'Show only the task with this id, or tasks whose type or place contains VALUE'
complete -c asyncdbg -n '__asyncdbg_in top' -l rows -x -d 'Show only the first N rows of each frame'
complete -c asyncdbg -n '__asyncdbg_in top' -l over -x -d 'Count polls longer than TIME as stalls, default 10ms'
complete -c asyncdbg -n '__asyncdbg_in top' -l allow-slow -d 'Also use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_in layout' -F
complete -c asyncdbg -n '__asyncdbg_in save' -F
complete -c asyncdbg -n '__asyncdbg_in save' -l values -d 'Also save the values of variables'
complete -c asyncdbg -n '__asyncdbg_in diff' -F
complete -c asyncdbg -n '__asyncdbg_in diff' -l interval -x -d 'Compare two moments of the process'
complete -c asyncdbg -n '__asyncdbg_in diff' -l count -x -d 'Compare N times, each moment with the one before'
complete -c asyncdbg -n '__asyncdbg_in report' -F
complete -c asyncdbg -n '__asyncdbg_in run' -F
complete -c asyncdbg -n '__asyncdbg_in run' -l stop -d 'Stop at the first instruction of the program\'s own code'
complete -c asyncdbg -n '__asyncdbg_in run' -l cwd -r -F -d 'Working directory of the program'
complete -c asyncdbg -n '__asyncdbg_in run' -l random-addresses -d 'Do not disable address space randomization'
complete -c asyncdbg -n '__asyncdbg_in run' -l production -d 'Use only hardware breakpoints, and write nothing into the code'
complete -c asyncdbg -n '__asyncdbg_in run' -l keep -d 'Keep the program running when asyncdbg ends'
complete -c asyncdbg -n '__asyncdbg_in attach' -l production -d 'Use only hardware breakpoints, and write nothing into the code'
complete -c asyncdbg -n '__asyncdbg_in next' -l all-code -d 'Stop in library code, too'
complete -c asyncdbg -n '__asyncdbg_in step' -l spawned -d 'Stop at the first line of a task spawned by the line'
complete -c asyncdbg -n '__asyncdbg_in step' -l all-code -d 'Stop in library code, too'
complete -c asyncdbg -n '__asyncdbg_in finish' -l whole -d 'Run until the task that the thread is running has finished'
complete -c asyncdbg -n '__asyncdbg_in finish' -l all-code -d 'Stop in library code, too'
complete -c asyncdbg -n '__asyncdbg_in until' -l all-code -d 'Stop in library code, too'
complete -c asyncdbg -n '__asyncdbg_in break' -l task -x -d 'Stop only if this task is running there'
complete -c asyncdbg -n '__asyncdbg_in break' -l after -x -d 'Skip the first N hits'
complete -c asyncdbg -n '__asyncdbg_in break' -l every -x -d 'Stop only at every Nth hit'
complete -c asyncdbg -n '__asyncdbg_in break' -l on-resume -x -d 'Stop when this task is polled, instead of at a place'
complete -c asyncdbg -n '__asyncdbg_in break' -l on-wake -x -d 'Stop the thread that wakes this task'
complete -c asyncdbg -n '__asyncdbg_in break' -l on-spawn -x -d 'Stop when a task with a future of such a type'
complete -c asyncdbg -n '__asyncdbg_in break' -l on-done -x -d 'Stop when this task has ended, by itself or aborted'
complete -c asyncdbg -n '__asyncdbg_in break' -l on-drop -x -d 'Stop when this task\'s future is dropped before it has returned'
complete -c asyncdbg -n '__asyncdbg_in tbreak' -l task -x -d 'Stop only if this task is running there'
complete -c asyncdbg -n '__asyncdbg_in tbreak' -l after -x -d 'Skip the first N hits'
complete -c asyncdbg -n '__asyncdbg_in tbreak' -l every -x -d 'Stop only at every Nth hit'
complete -c asyncdbg -n '__asyncdbg_in tbreak' -l on-resume -x -d 'Stop when this task is polled, instead of at a place'
complete -c asyncdbg -n '__asyncdbg_in tbreak' -l on-wake -x -d 'Stop the thread that wakes this task'
complete -c asyncdbg -n '__asyncdbg_in tbreak' -l on-spawn -x -d 'Stop when a task with a future of such a type'
complete -c asyncdbg -n '__asyncdbg_in tbreak' -l on-done -x -d 'Stop when this task has ended, by itself or aborted'
complete -c asyncdbg -n '__asyncdbg_in tbreak' -l on-drop -x -d 'Stop when this task\'s future is dropped before it has returned'
complete -c asyncdbg -n '__asyncdbg_in logpoint' -l task -x -d 'Stop only if this task is running there'
complete -c asyncdbg -n '__asyncdbg_in logpoint' -l after -x -d 'Skip the first N hits'
complete -c asyncdbg -n '__asyncdbg_in logpoint' -l every -x -d 'Report only every Nth hit'
complete -c asyncdbg -n '__asyncdbg_typed catch' -a 'panic task-panic deadlock'
complete -c asyncdbg -n '__asyncdbg_in catch' -l every -x -d 'For deadlock'
complete -c asyncdbg -n '__asyncdbg_in watch' -l state -d 'Watch which await the future of the selected frame is at'
complete -c asyncdbg -n '__asyncdbg_in watch' -l after -x -d 'Skip the first N hits'
complete -c asyncdbg -n '__asyncdbg_in watch' -l every -x -d 'Stop only at every Nth hit'
complete -c asyncdbg -n '__asyncdbg_in rwatch' -l after -x -d 'Skip the first N hits'
complete -c asyncdbg -n '__asyncdbg_in rwatch' -l every -x -d 'Stop only at every Nth hit'
complete -c asyncdbg -n '__asyncdbg_in awatch' -l after -x -d 'Skip the first N hits'
complete -c asyncdbg -n '__asyncdbg_in awatch' -l every -x -d 'Stop only at every Nth hit'
complete -c asyncdbg -n '__asyncdbg_in "info breakpoints"' -l internal -d 'List the breakpoints of the debugger itself, and what they are for'
complete -c asyncdbg -n '__asyncdbg_in dap' -l listen -x -d 'Wait for a client on a Unix socket or a local port'
