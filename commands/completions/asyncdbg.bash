# bash completion for asyncdbg(1)

_asyncdbg_fields="id kind state runtime type spawned_at defined_at function location waiting_on task object armed thread span
	problem depth frames leaves remaining_ms queued position permits_missing send_queue retransmits
	http_role http_version http_phase http_method http_path http_queued http_streams task_name task_number"

_asyncdbg()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local -a words=()
	local i skip=0

	COMPREPLY=()
	case $prev in
	-p | --pid)
		mapfile -t COMPREPLY < <(compgen -W "$(command ps -eo pid= 2>/dev/null)" -- "$cur")
		return
		;;
	-c | --core | --exe | --layout | -o | --output | -x | --script | --dot)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur")
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "dot" -- "$cur")
		return
		;;
	-e | --execute | --source-map | --log | --limit | --exec | --interval | --count | --max-pause)
		return
		;;
	--with | --without)
		mapfile -t COMPREPLY < <(compgen -W "$_asyncdbg_fields" -- "$cur")
		return
		;;
	--group)
		if [[ " ${COMP_WORDS[*]} " == *" tasks "* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$_asyncdbg_fields" -- "$cur")
			return
		fi
		;;
	esac
	if [[ $prev == --fail-on ]]; then
		mapfile -t COMPREPLY < <(compgen -W "deadlock futurelock no-waker blocked-worker long-poll
			starved-queue panicked-task closed-channel-wait huge-future many-identical
			deadlock:possible futurelock:possible no-waker:possible long-poll:possible
			closed-channel-wait:possible" -- "$cur")
		return
	fi
	if [[ $cur == -* ]]; then
		local own=
		case " ${COMP_WORDS[*]} " in
		*" tasks "*) own="--group --with --without --limit --exec" ;;
		*" types "*) own="--limit" ;;
		*" all "*) own="--group --no-group --with --without --limit" ;;
		*" graph "*) own="--dot --format" ;;
		*" diff "*) own="--interval --count" ;;
		*" save "*) own="--values" ;;
		*" check "*) own="--fail-on --interval --every --for --on --save --keep --run --run-limit" ;;
		*" ps "*) own="--tasks" ;;
		*" trace "*) own="--duration --events --with --over --no-places --allow-slow --format --usdt --usdt-strings --ring --when --count --every" ;;
		*" stalls "*) own="--over --duration --allow-slow" ;;
		*" probes "*) own="--allow-slow" ;;
		*" metrics "*) own="--duration --every --over --allow-slow" ;;
		*" profile "*) own="--duration --allow-slow --format --cpu --rate" ;;
		*" top "*) own="--interval --count --sort --group --with --rows --over --allow-slow" ;;
		*" disassemble "*) own="--intel" ;;
		*" step "*) own="--spawned --all-code" ;;
		*" run "*) own="--stop --cwd --random-addresses --keep --production" ;;
		*" finish "*) own="--whole --all-code" ;;
		*" next "* | *" until "*) own="--all-code" ;;
		*" attach "*) own="--production" ;;
		*" watch "*) own="--state --after --every" ;;
		*" rwatch "* | *" awatch "*) own="--after --every" ;;
		*" break "* | *" tbreak "*) own="--task --after --every --on-resume --on-wake --on-spawn --on-done --on-drop" ;;
		*" logpoint "*) own="--task --after --every" ;;
		*" catch "*) own="--every" ;;
		*" dap "*) own="--listen" ;;
		*" guard "*) own="--timeout --silence --report" ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "--pid --name --unit --core --exe --force --layout --source-map --no-cache --output
			--stop-all --no-stop --max-pause --execute --script
			--batch --json --jsonl --verbose --show-secrets --full-names --color --ascii --log --help
			--usage --version $own" \
			-- "$cur")
		return
	fi

	# The command typed so far, without options and their arguments.
	for ((i = 1; i < COMP_CWORD; i++)); do
		if ((skip)); then
			skip=$((skip - 1))
			continue
		fi
		case ${COMP_WORDS[i]} in
		-p | --pid | --name | --unit | -c | --core | --exe | --layout | --source-map | -o | --output | -e | --execute | -x | --script | --color | --log | --limit | --exec | --dot | --format | --fail-on | --interval | --count | --max-pause | --every | --duration | --over | --events | --ring | --when | --for | --on | --save | --keep | --run | --run-limit | --timeout | --silence | --report | --rate | --cwd | --task | --after | --on-resume | --on-wake | --on-spawn | --on-done | --on-drop | --listen) skip=1 ;;
		--with | --without) skip=2 ;;
		--group) [[ ${words[0]} != tasks ]] || skip=1 ;;
		-*) ;;
		*)
			# The target: digits are a process, a word with a slash an executable or core.
			[[ ${#words[@]} -eq 0 && ${COMP_WORDS[i]} =~ (^[0-9]+$|/) ]] ||
				words+=("${COMP_WORDS[i]}")
			;;
		esac
	done
	if [[ $cur == */* ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	[[ ${words[0]} == help ]] && words=("${words[@]:1}")

	local next=
	case "${words[*]}" in
	"") next="async task frame up down list disassemble x locals print whatis type types tasks runtimes threads thread
		bt check ps guard trace probes stalls metrics profile top info layout save diff report run attach continue detach kill next step finish until stepi nexti break tbreak logpoint condition catch handle signal interrupt watch rwatch awatch delete enable disable set dap help quit" ;;
	async) next="backtrace task graph deadlocks" ;;
	"async backtrace" | "async bt" | bt) next="all" ;;
	info) next="breakpoints layout signals sockets threads locals registers" ;;
	layout | save | diff* | report)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$next" -- "$cur")
}

complete -F _asyncdbg asyncdbg
