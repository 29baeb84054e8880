# bash completion for asyncdbg(1), written by scripts/help_files.py: do not edit

# Sets skip to the number of words that the value of option $1 has, after the words of a command $2.
_asyncdbg_value_words()
{
	skip=0
	case "$1" in
	--after | --color | --core | --count | --cwd | --dot | --duration | --events | --every | --exe | --exec | --execute | --fail-on | --for | --format | --interval | --layout | --limit | --listen | --log | --max-pause | --name | --on | --on-done | --on-drop | --on-resume | --on-spawn | --on-wake | --output | --over | --pid | --rate | --report | --ring | --rows | --run | --run-limit | --save | --script | --silence | --sort | --source-map | --task | --timeout | --unit | --usdt | --when | -c | -e | -o | -p | -x) skip=1 ;;
	--group) [[ $2 != "tasks "* && $2 != "top "* ]] || skip=1 ;;
	--keep) [[ $2 != "check "* ]] || skip=1 ;;
	--with | --without) skip=2 ;;
	esac
}

# Sets values to the values of option $1 of the command $2, and kind to what else they are.
_asyncdbg_values()
{
	values= kind=
	case "$2 $1" in
	"async backtrace all"*" --with" | "async backtrace all"*" --without" | "async bt all"*" --with" | "async bt all"*" --without" | "tasks"*" --group" | "tasks"*" --with" | "tasks"*" --without") values="id kind state runtime type spawned_at defined_at function location waiting_on task object armed thread span problem depth frames leaves remaining_ms queued position permits_missing send_queue retransmits http_role http_version http_phase http_method http_path http_queued http_streams task_name task_number" ;;
	"async graph"*" --output" | "async graph"*" --dot" | "trace"*" --output" | "metrics"*" --output" | "profile"*" --output" | "layout"*" --output" | "save"*" --output" | "report"*" --output" | *" -c" | *" --core" | *" --exe" | *" --layout" | *" -x" | *" --script" | *" -o" | *" --output") kind=files ;;
	"async graph"*" --format") values="dot" ;;
	"check"*" --fail-on" | "check"*" --on") values="deadlock futurelock no-waker blocked-worker long-poll starved-queue timer-overdue panicked-task closed-channel-wait huge-future many-identical deadlock:possible futurelock:possible no-waker:possible long-poll:possible timer-overdue:possible closed-channel-wait:possible" ;;
	"check"*" --save" | "guard"*" --report" | "run"*" --cwd") kind=folder ;;
	"trace"*" --events") values="task-spawn task-poll-start task-poll-end task-terminate worker-thread-start worker-thread-stop worker-thread-park worker-thread-unpark task-wake" ;;
	"trace"*" --with") values="id type" ;;
	"trace"*" --when") values="poll>50ms runnable>100ms alive>1000 deadlock death" ;;
	"trace"*" --format") values="text perfetto" ;;
	"probes"*" --format") values="text bpftrace" ;;
	"profile"*" --format") values="text folded pprof html" ;;
	"top"*" --sort") values="id type place tasks polls busy longest p99 runnable wakes own" ;;
	"top"*" --group") values="type place" ;;
	"top"*" --with") values="id type place" ;;
	*" -p" | *" --pid") kind=process ;;
	*" --color") values="auto always never" ;;
	esac
}

_asyncdbg()
{
	local cur=${COMP_WORDS[COMP_CWORD]} option= skip=0 left i word values kind next= own=
	local -a words=()

	COMPREPLY=()
	# The command typed so far, without options and their values; readline makes = a word.
	[[ $cur != = ]] || cur=
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ $word != = ]] || continue
		if ((skip)); then
			skip=$((skip - 1))
			continue
		fi
		case $word in
		-*)
			option=$word
			_asyncdbg_value_words "$word" "${words[*]} "
			;;
		*)
			# The target: digits are a process, a word with a slash an executable or core.
			[[ ${#words[@]} -eq 0 && $word =~ (^[0-9]+$|/) ]] || words+=("$word")
			;;
		esac
	done
	[[ ${words[0]} == help ]] && words=("${words[@]:1}")
	if ((skip)); then
		_asyncdbg_values "$option" "${words[*]}"
		left=$skip
		_asyncdbg_value_words "$option" "${words[*]} "
		# The second word of FIELD VALUE can be anything.
		((left == skip)) || return
		case $kind in
		files) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
		folder) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
		process) mapfile -t COMPREPLY < <(compgen -W "$(command ps -eo pid= 2>/dev/null)" -- "$cur") ;;
		*) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur") ;;
		esac
		return
	fi
	if [[ $cur == -* ]]; then
		case "${words[*]} " in
		"async backtrace all "* | "async bt all "*) own="-v --verbose --group --no-group --with --without --limit" ;;
		"async backtrace "* | "async bt "* | "async task "* | "async deadlocks "* | "task "* | "frame "* | "up "* | "down "*) own="-v --verbose" ;;
		"async graph "*) own="--output --format --dot" ;;
		"info breakpoints "*) own="--internal" ;;
		"disassemble "*) own="--intel" ;;
		"types "*) own="--limit" ;;
		"tasks "*) own="--group --with --without --limit --exec" ;;
		"check "*) own="--fail-on --interval --every --for --on --save --keep --run --run-limit" ;;
		"ps "*) own="--tasks" ;;
		"guard "*) own="--timeout --silence --report" ;;
		"trace "*) own="--duration --events --with --over --no-places --usdt --usdt-strings --allow-slow --ring --when --count --every --output --format" ;;
		"probes "*) own="--format --allow-slow" ;;
		"stalls "*) own="--over --duration --allow-slow" ;;
		"metrics "*) own="--duration --every --over --allow-slow --output" ;;
		"profile "*) own="--duration --allow-slow --output --format --cpu --rate" ;;
		"top "*) own="--interval --count --sort --group --with --rows --over --allow-slow" ;;
		"layout "*) own="--output" ;;
		"save "*) own="--output --values" ;;
		"diff "*) own="--interval --count" ;;
		"report "*) own="-v --verbose --output" ;;
		"run "*) own="--stop --cwd --random-addresses --production --keep" ;;
		"attach "*) own="--production" ;;
		"next "* | "until "*) own="--all-code" ;;
		"step "*) own="--spawned --all-code" ;;
		"finish "*) own="--whole --all-code" ;;
		"break "* | "tbreak "*) own="--task --after --every --on-resume --on-wake --on-spawn --on-done --on-drop" ;;
		"logpoint "*) own="--task --after --every" ;;
		"catch "*) own="--every" ;;
		"watch "*) own="--state --after --every" ;;
		"rwatch "* | "awatch "*) own="--after --every" ;;
		"dap "*) own="--listen" ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "-c --core --exe --force --layout --max-pause --name --no-cache --no-stop -p --pid --source-map --stop-all --unit --batch -e --execute -x --script --ascii --color --full-names --json --jsonl --log -o --output --show-secrets -v --verbose -? --help --usage -V --version $own" -- "$cur")
		return
	fi
	if [[ $cur == */* ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	case "${words[*]}" in
	"") next="async task frame up down list disassemble x locals print whatis type types tasks runtimes threads thread bt check ps guard trace probes stalls metrics profile top info layout save diff report run attach continue detach kill stepi next step finish until nexti break tbreak logpoint condition catch handle signal interrupt watch rwatch awatch delete enable disable set dap help quit" ;;
	"async") next="backtrace task graph deadlocks" ;;
	"async backtrace" | "bt" | "async bt") next="all" ;;
	"info") next="layout sockets threads locals registers signals breakpoints" ;;
	"catch") next="panic task-panic deadlock" ;;
	"layout"* | "save"* | "diff"* | "report"* | "run"*)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$next" -- "$cur")
}

complete -F _asyncdbg asyncdbg
