/* The command profile: where tasks spend their time. */
#ifndef COMMANDS_PROFILE_PROFILE_H
#define COMMANDS_PROFILE_PROFILE_H

#include "commands/base/call.h"

extern const struct command profile_command;

#endif
