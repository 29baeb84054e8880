;;; client.el --- dap-mode of Emacs as a client of `asyncdbg dap', in batch -*- lexical-binding: t -*-

;; usage: emacs --batch -l client.el -- ASYNCDBG PROGRAM SOURCE LINE CORE EXE STEPPED STEPS FIRST
;;
;; Launches PROGRAM with a breakpoint at SOURCE:LINE, looks at threads, the stack and variables there,
;; asks for places of breakpoints, watches a static, makes the breakpoint a logpoint, and continues to its
;; end; steps in the scenario "migrates" of STEPPED over awaits from line FIRST of its source STEPS; then
;; opens CORE of the executable EXE.

(require 'cl-lib)
(require 'dap-mode)

(defvar client-stops 0)
(defvar client-ended nil)
(add-hook 'dap-stopped-hook (lambda (_session) (cl-incf client-stops)))
(add-hook 'dap-terminated-hook (lambda (_session) (setq client-ended t)))

(defun client-fail (format &rest args)
  (message "emacs: %s" (apply #'format format args))
  (kill-emacs 1))

(defun client-wait (what test)
  "Wait until TEST, a function, is true."
  (let ((end (+ (float-time) 300)))
    (while (and (not (funcall test)) (< (float-time) end))
      (accept-process-output nil 0.05))
    (or (funcall test) (client-fail "no %s in 300 s" what))))

(defun client-request (session command &rest arguments)
  "The body of the answer to a request."
  (let (answer)
    (dap--send-message (dap--make-request command arguments)
                       (lambda (message) (setq answer message)) session)
    (client-wait command (lambda () answer))
    (unless (gethash "success" answer)
      (client-fail "%s: %s" command (gethash "message" answer)))
    (gethash "body" answer)))

(defun client-names (list) (mapcar (lambda (e) (gethash "name" e)) (append list nil)))

(defun client-start (&rest conf)
  (setq client-stops 0 client-ended nil)
  (dap-debug conf)
  (client-wait "stop" (lambda () (> client-stops 0)))
  (dap--cur-session))

(defun client-expect (what part texts)
  (unless (cl-some (lambda (text) (string-match-p (regexp-quote part) text)) texts)
    (client-fail "%s: no %S in %S" what part texts)))

(defun client-line (session)
  "The line at which the active thread has stopped."
  (let ((stack (client-request session "stackTrace" :threadId (dap--debug-session-thread-id session))))
    (gethash "line" (elt (gethash "stackFrames" stack) 0))))

(defun client-move (session move)
  "Call MOVE with the session, and wait for the stop behind it."
  (let ((before client-stops))
    (funcall move session)
    (client-wait "stop" (lambda () (> client-stops before)))))

(defun client-watch (session)
  "A data breakpoint on a static: dap-mode has no command for one, and no view."
  (let* ((info (client-request session "dataBreakpointInfo" :name "steps::LINE"))
         (set (client-request session "setDataBreakpoints" :breakpoints
                              (vector (list :dataId (gethash "dataId" info) :accessType "write")))))
    (unless (eq t (gethash "verified" (elt (gethash "breakpoints" set) 0)))
      (client-fail "a data breakpoint is not verified"))
    (client-request session "setDataBreakpoints" :breakpoints [])))

(defun client-places (session source line)
  (let ((places (client-request session "breakpointLocations" :source (list :path source) :line line)))
    (unless (= line (gethash "line" (elt (gethash "breakpoints" places) 0)))
      (client-fail "no breakpoint can be at line %d" line))))

(defun client-log (text)
  "Make the breakpoint at point a logpoint, as its command does that asks for the TEXT."
  (cl-letf (((symbol-function 'read-string) (lambda (&rest _) text)))
    (call-interactively #'dap-breakpoint-log-message)))

(defun client-output (session)
  (with-current-buffer (dap--debug-session-output-buffer session)
    (buffer-string)))

(defun client-launch (asyncdbg program source line)
  (find-file source)
  (goto-char (point-min))
  (forward-line (1- line))
  (dap-breakpoint-add)
  (let* ((session (client-start :type "asyncdbg" :request "launch" :name "launch" :program program
                                :dap-server-path (list asyncdbg "dap") :cwd default-directory))
         (threads (gethash "threads" (client-request session "threads")))
         (thread (dap--debug-session-thread-id session))
         (stack (gethash "stackFrames" (client-request session "stackTrace" :threadId thread)))
         (scopes (gethash "scopes" (client-request session "scopes" :frameId (gethash "id" (elt stack 0)))))
         (locals (gethash "variables"
                          (client-request session "variables" :variablesReference
                                          (gethash "variablesReference" (elt scopes 0))))))
    (client-expect "threads" "steps::walk" (client-names threads))
    (client-expect "stack" "async steps::walk" (client-names stack))
    (client-expect "variables" "message" (client-names locals))
    (client-places session source line)
    (client-watch session)
    (client-log "a walker, task {task.id}")
    (dap-continue session thread)
    (client-wait "end" (lambda () client-ended))
    (client-expect "the logpoint" "a walker, task " (list (client-output session)))
    (client-expect "its lines" "task" (list (client-output session)))
    (dap-breakpoint-delete-all)))

(defun client-step (asyncdbg program source line)
  "Steps over awaits, behind each of which the task is on another thread."
  (find-file source)
  (goto-char (point-min))
  (forward-line (1- line))
  (dap-breakpoint-add)
  (let ((session (client-start :type "asyncdbg" :request "launch" :name "step" :program program
                               :args ["migrates"] :dap-server-path (list asyncdbg "dap") :cwd default-directory))
        lines)
    (dotimes (_ 3)
      (push (client-line session) lines)
      (client-move session #'dap-next))
    (push (client-line session) lines)
    (unless (equal (reverse lines) (number-sequence line (+ line 3)))
      (client-fail "lines of next: %S" (reverse lines)))
    (dap-breakpoint-delete-all)
    (dap-disconnect session)))

(defun client-core (asyncdbg core exe)
  (let* ((session (client-start :type "asyncdbg" :request "attach" :name "core" :core core :program exe
                                :dap-server-path (list asyncdbg "dap") :cwd default-directory))
         (threads (gethash "threads" (client-request session "threads"))))
    (client-expect "threads of a core" "task 3 " (client-names threads))
    (dap-disconnect session)))

(defvar dap-exception-breakpoints nil) ; of dap-ui, which is not loaded

(let ((dap-auto-configure-features nil)
      (dap-output-buffer-filter nil)
      (arguments (cdr command-line-args-left)))
  (setq command-line-args-left nil)
  (dap-register-debug-provider "asyncdbg" #'identity)
  (cl-destructuring-bind (asyncdbg program source line core exe stepped steps first) arguments
    (client-launch asyncdbg program source (string-to-number line))
    (client-step asyncdbg stepped steps (string-to-number first))
    (client-core asyncdbg core exe))
  (message "emacs: all as it should be"))
