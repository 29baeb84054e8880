;;; client.el --- dap-mode of Emacs as a client of `asyncdbg dap', in batch -*- lexical-binding: t -*-

;; usage: emacs --batch -l client.el -- ASYNCDBG PROGRAM SOURCE LINE CORE EXE
;;
;; Launches PROGRAM with a breakpoint at SOURCE:LINE, looks at threads, the stack and variables there,
;; continues to its end; then opens CORE of the executable EXE.

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
    (client-request session "setBreakpoints" :source (list :path source) :breakpoints [])
    (dap-continue session thread)
    (client-wait "end" (lambda () client-ended))))

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
  (cl-destructuring-bind (asyncdbg program source line core exe) arguments
    (client-launch asyncdbg program source (string-to-number line))
    (client-core asyncdbg core exe))
  (message "emacs: all as it should be"))
