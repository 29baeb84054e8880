# fish completion for asyncdbg(1)

# The command typed so far, without options and their arguments, is exactly $argv.
function __asyncdbg_typed
    set -l words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip -gt 0
            set skip (math $skip - 1)
            continue
        end
        switch $word
            case -p --pid --name --unit -c --core --exe --layout --source-map -o --output -e --execute -x --script --color --log --limit --exec --dot --format --fail-on --interval --count --max-pause --every --duration --over --events --ring --when --for --on --save --keep --run --run-limit --timeout --silence --report --cwd --task --after --on-resume --on-wake --on-spawn --on-done --listen
                set skip 1
            case --with --without
                set skip 2
            case '-*'
            case '*'
                # The target: digits are a process, a word with a slash an executable or core.
                test -z "$words"; and string match -qr '^[0-9]+$|/' -- $word; or set -a words $word
        end
    end
    test "$words[1]" = help; and set -e words[1]
    test "$words" = "$argv"
end

complete -c asyncdbg -f
complete -c asyncdbg -s p -l pid -x -a '(__fish_complete_pids)' -d 'Look at a running process'
complete -c asyncdbg -l name -x -d 'Look at the running process of that name'
complete -c asyncdbg -l unit -x -d 'Look at the running process of that unit of systemd'
complete -c asyncdbg -s c -l core -r -F -d 'Look at a core dump or a saved snapshot'
complete -c asyncdbg -l exe -r -F -d 'Executable to use'
complete -c asyncdbg -l force -d 'Accept files whose build-id differs'
complete -c asyncdbg -l layout -r -F -d 'Use a layout file for debug info'
complete -c asyncdbg -l source-map -x -d 'Where source files are'
complete -c asyncdbg -l no-cache -d 'Neither read nor write the cache'
complete -c asyncdbg -l show-secrets -d 'Show values that are secret by their names'
complete -c asyncdbg -s o -l output -r -F -d 'File that a command writes'
complete -c asyncdbg -l stop-all -d 'Stop every thread'
complete -c asyncdbg -l no-stop -d 'Never stop the process'
complete -c asyncdbg -l max-pause -x -d 'Stop it for at most that long'
complete -c asyncdbg -s e -l execute -x -d 'Run commands'
complete -c asyncdbg -s x -l script -r -F -d 'Run the commands of a file'
complete -c asyncdbg -l batch -d 'No prompt, even on a terminal'
complete -c asyncdbg -l json -d 'One JSON document a command'
complete -c asyncdbg -l jsonl -d 'The same, one line a task'
complete -c asyncdbg -s v -l verbose -d 'Show the variables of every frame'
complete -c asyncdbg -l full-names -d 'Type and function names whole'
complete -c asyncdbg -l color -x -a 'auto always never' -d 'When to use colour'
complete -c asyncdbg -l ascii -d 'Draw trees in ASCII'
complete -c asyncdbg -l log -x -d 'Debug log'
complete -c asyncdbg -l help -d 'Help'
complete -c asyncdbg -l version -d 'Version'

complete -c asyncdbg -n '__asyncdbg_typed' -a 'async task frame up down list disassemble x locals print whatis type types tasks runtimes threads thread bt check ps guard trace probes stalls metrics profile top info layout save diff report run attach continue detach kill next step finish until stepi nexti break tbreak logpoint condition catch handle signal interrupt watch rwatch awatch delete enable disable set dap help quit'
complete -c asyncdbg -n '__asyncdbg_typed async' -a 'backtrace task graph deadlocks'
complete -c asyncdbg -n '__asyncdbg_typed async backtrace; or __asyncdbg_typed async bt; or __asyncdbg_typed bt' -a all
complete -c asyncdbg -n '__asyncdbg_typed layout; or __asyncdbg_typed report' -F
complete -c asyncdbg -n '__asyncdbg_typed save' -F
complete -c asyncdbg -n '__asyncdbg_typed save' -l values -d 'Save the values of variables too'
complete -c asyncdbg -n '__asyncdbg_typed diff' -F
complete -c asyncdbg -n '__asyncdbg_typed diff' -l interval -x -d 'Look at the process again after that time'
complete -c asyncdbg -n '__asyncdbg_typed diff' -l count -x -d 'Compare so many times'
complete -c asyncdbg -n '__asyncdbg_typed info' -a 'breakpoints layout signals sockets threads locals registers'
set -l fields 'id kind state runtime type spawned_at defined_at function location waiting_on task object armed thread span problem depth frames leaves remaining_ms queued position permits_missing send_queue retransmits http_role http_version http_phase http_method http_path http_queued http_streams task_name task_number'
for command in tasks 'async backtrace all' 'async bt all'
    complete -c asyncdbg -n "__asyncdbg_typed $command" -l with -x -a $fields -d 'Only tasks that match'
    complete -c asyncdbg -n "__asyncdbg_typed $command" -l without -x -a $fields -d 'Only tasks that do not match'
    complete -c asyncdbg -n "__asyncdbg_typed $command" -l limit -x -d 'How many tasks or groups'
end
complete -c asyncdbg -n '__asyncdbg_typed types' -l limit -x -d 'How many types'
complete -c asyncdbg -n '__asyncdbg_typed tasks' -l group -x -a $fields -d 'Count the tasks of each value'
complete -c asyncdbg -n '__asyncdbg_typed tasks' -l exec -x -d 'Run a command for each task'
for command in 'async backtrace all' 'async bt all'
    complete -c asyncdbg -n "__asyncdbg_typed $command" -l group -d 'Merge tasks that stand at the same place'
    complete -c asyncdbg -n "__asyncdbg_typed $command" -l no-group -d 'Each task by itself'
end
complete -c asyncdbg -n '__asyncdbg_typed async graph' -l format -x -a dot -d 'Of that file'
complete -c asyncdbg -n '__asyncdbg_typed async graph' -l dot -r -F -d 'Write it for Graphviz'
complete -c asyncdbg -n '__asyncdbg_typed check' -l fail-on -x -a 'deadlock futurelock no-waker blocked-worker long-poll starved-queue panicked-task closed-channel-wait huge-future many-identical deadlock:possible futurelock:possible no-waker:possible long-poll:possible closed-channel-wait:possible' -d 'Exit with 3 when these find anything'
complete -c asyncdbg -n '__asyncdbg_typed check' -l interval -x -d 'Time between two looks'
complete -c asyncdbg -n '__asyncdbg_typed check' -l every -x -d 'Check again and again'
complete -c asyncdbg -n '__asyncdbg_typed check' -l for -x -d 'Report what so many checks find'
complete -c asyncdbg -n '__asyncdbg_typed check' -l on -x -d 'Report these checks'
complete -c asyncdbg -n '__asyncdbg_typed check' -l save -r -F -d 'Write a snapshot and a report of each finding'
complete -c asyncdbg -n '__asyncdbg_typed check' -l keep -x -d 'Keep the newest of them'
complete -c asyncdbg -n '__asyncdbg_typed check' -l run -x -d 'Run a command with each finding'
complete -c asyncdbg -n '__asyncdbg_typed check' -l run-limit -x -d 'End that command after TIME'
complete -c asyncdbg -n '__asyncdbg_typed ps' -l tasks -d 'Count the tasks of all processes'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l duration -x -d 'End after TIME'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l events -x -d 'Only these events'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l over -x -d 'Only polls that took longer'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l no-places -d 'Leave out where tasks go to sleep'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l with -x -d 'Only events of these tasks'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l allow-slow -d 'Use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l format -x -a 'text perfetto' -d 'Of the file'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l usdt -x -d 'Static probes of the program, too'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l usdt-strings -d 'Their arguments as text, where they are'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l ring -x -d 'Keep the last events in so much memory'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l when -x -a 'poll\>50ms runnable\>100ms alive\>1000 deadlock death' -d 'Write them then'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l count -x -d 'Write so many files'
complete -c asyncdbg -n '__asyncdbg_typed trace' -l every -x -d 'Look for a deadlock each TIME'
complete -c asyncdbg -n '__asyncdbg_typed stalls' -l over -x -d 'Polls that run longer than TIME'
complete -c asyncdbg -n '__asyncdbg_typed stalls' -l duration -x -d 'End after TIME'
complete -c asyncdbg -n '__asyncdbg_typed stalls' -l allow-slow -d 'Use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_typed probes' -l allow-slow -d 'Also points that need a single step'
complete -c asyncdbg -n '__asyncdbg_typed metrics' -l duration -x -d 'End after TIME'
complete -c asyncdbg -n '__asyncdbg_typed metrics' -l every -x -d 'Write again each TIME'
complete -c asyncdbg -n '__asyncdbg_typed metrics' -l over -x -d 'What a slow poll takes'
complete -c asyncdbg -n '__asyncdbg_typed metrics' -l allow-slow -d 'Use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_typed profile' -l duration -x -d 'End after TIME'
complete -c asyncdbg -n '__asyncdbg_typed profile' -l allow-slow -d 'Use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_typed profile' -l cpu -d 'Which functions run in polls'
complete -c asyncdbg -n '__asyncdbg_typed profile' -l rate -x -d 'Samples in a second, with --cpu'
complete -c asyncdbg -n '__asyncdbg_typed profile' -l format -x -a 'text folded pprof html' -d 'Of what is written'
complete -c asyncdbg -n '__asyncdbg_typed top' -l interval -x -d 'A frame each TIME'
complete -c asyncdbg -n '__asyncdbg_typed top' -l count -x -d 'End after N frames'
complete -c asyncdbg -n '__asyncdbg_typed top' -l sort -x -a 'id type place tasks polls busy longest p99 runnable wakes own' -d 'Sort by a field'
complete -c asyncdbg -n '__asyncdbg_typed top' -l group -x -a 'type place' -d 'A row for all that have the same'
complete -c asyncdbg -n '__asyncdbg_typed top' -l with -x -a 'id type place' -d 'Only tasks with that value'
complete -c asyncdbg -n '__asyncdbg_typed top' -l rows -x -d 'Only the first N rows'
complete -c asyncdbg -n '__asyncdbg_typed top' -l over -x -d 'What a stall takes'
complete -c asyncdbg -n '__asyncdbg_typed top' -l allow-slow -d 'Use probe points that need a single step'
complete -c asyncdbg -n '__asyncdbg_typed run' -l stop -d 'Stop it where its own code begins'
complete -c asyncdbg -n '__asyncdbg_typed finish' -l whole -d 'Run until the task has finished'
complete -c asyncdbg -n '__asyncdbg_typed step' -l spawned -d 'Stop in a task that the line spawns'
complete -c asyncdbg -n '__asyncdbg_typed next; or __asyncdbg_typed step; or __asyncdbg_typed finish; or __asyncdbg_typed until' -l all-code -d 'Stop in code of libraries, too'
complete -c asyncdbg -n '__asyncdbg_typed run' -l cwd -r -F -d 'Its working directory'
complete -c asyncdbg -n '__asyncdbg_typed run' -l random-addresses -d 'Leave its addresses random'
complete -c asyncdbg -n '__asyncdbg_typed run; or __asyncdbg_typed attach' -l production -d 'Write nothing into its code'
complete -c asyncdbg -n '__asyncdbg_typed watch' -l state -d 'Watch at which await the future in focus is'
complete -c asyncdbg -n '__asyncdbg_typed break; or __asyncdbg_typed tbreak' -l task -x -d 'Only when this task runs there'
complete -c asyncdbg -n '__asyncdbg_typed run' -l keep -d 'It runs on when asyncdbg ends'
complete -c asyncdbg -n '__asyncdbg_typed break; or __asyncdbg_typed tbreak' -l on-resume -x -d 'When that task is polled'
complete -c asyncdbg -n '__asyncdbg_typed break; or __asyncdbg_typed tbreak' -l on-wake -x -d 'When that task is woken'
complete -c asyncdbg -n '__asyncdbg_typed break; or __asyncdbg_typed tbreak' -l on-spawn -x -d 'When a task of such a type is made'
complete -c asyncdbg -n '__asyncdbg_typed break; or __asyncdbg_typed tbreak' -l on-done -x -d 'When that task has ended'
complete -c asyncdbg -n '__asyncdbg_typed break; or __asyncdbg_typed tbreak' -l on-drop -x -d 'When its future is dropped before it has returned'
complete -c asyncdbg -n '__asyncdbg_typed catch' -a 'panic task-panic deadlock'
complete -c asyncdbg -n '__asyncdbg_typed catch' -l every -x -d 'How often it looks for deadlocks'
complete -c asyncdbg -n '__asyncdbg_typed dap' -l listen -x -d 'Wait for a client on this port of this machine'
complete -c asyncdbg -n '__asyncdbg_typed break; or __asyncdbg_typed tbreak; or __asyncdbg_typed logpoint; or __asyncdbg_typed watch; or __asyncdbg_typed rwatch; or __asyncdbg_typed awatch' -l after -x -d 'Pass the first N hits'
complete -c asyncdbg -n '__asyncdbg_typed break; or __asyncdbg_typed tbreak' -l every -x -d 'Stop at each Nth hit only'
complete -c asyncdbg -n '__asyncdbg_typed logpoint' -l task -x -d 'Only when this task runs there'
complete -c asyncdbg -n '__asyncdbg_typed logpoint' -l after -x -d 'Pass the first N hits'
complete -c asyncdbg -n '__asyncdbg_typed logpoint' -l every -x -d 'Report each Nth hit only'
complete -c asyncdbg -n '__asyncdbg_typed guard' -l timeout -x -d 'End the command when it runs longer'
complete -c asyncdbg -n '__asyncdbg_typed guard' -l silence -x -d 'End the command when it writes nothing'
complete -c asyncdbg -n '__asyncdbg_typed guard' -l report -r -F -d 'Write a snapshot and a report of each process'
complete -c asyncdbg -n '__asyncdbg_typed disassemble' -l intel -d 'Intel syntax'
