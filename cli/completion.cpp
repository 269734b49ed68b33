// `sextant completion` and the hidden `sextant manual`: both follow from the commands and options themselves.
#include "cli/command_line/completion.h"

#include <filesystem>
#include <memory>

#include "cli/command_line/manual.h"
#include "cli/shared/command.h"
#include "sextant/document.h"

namespace sextant::cli {
namespace {

// words: of the command after the program's name.
void write_pages(const CommandTree& program, const CommandTree& command, const std::string& words,
                 const std::filesystem::path& folder) {
  write_text_file(folder / (manual_name(program.name, words) + ".1"),
                  manual_page(program.name, current_provenance().tool_version, command, words));
  for (const CommandTree& inner : command.commands)
    write_pages(program, inner, words.empty() ? inner.name : words + " " + inner.name, folder);
}

}  // namespace

void add_completion(CommandLine& line) {
  enum class Shell { bash, zsh, fish };
  const auto shell = std::make_shared<Shell>(Shell::bash);
  const Command completion =
      line.add_command("completion", "Print a script by which a shell completes commands and options");
  completion
      .add_choice<Shell>("shell", *shell, {{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}},
                         "The shell")
      .required();
  completion.footer(
      "A package installs these scripts. Otherwise:\n"
      "  sextant completion bash > ~/.local/share/bash-completion/completions/sextant\n"
      "  sextant completion zsh > FOLDER/_sextant    (a folder of $fpath)\n"
      "  sextant completion fish > ~/.config/fish/completions/sextant.fish");
  completion.runs([shell, &line] {
    const CommandTree program = line.tree();
    print_text(*shell == Shell::bash  ? bash_completion(program)
               : *shell == Shell::zsh ? zsh_completion(program)
                                      : fish_completion(program));
    return static_cast<int>(kDone);
  });

  const auto folder = std::make_shared<std::string>();
  const Command manual = line.add_command("manual", "Write the manual pages of all commands, for packages");
  manual.hide();
  manual.add_option("folder", *folder, "Folder of the pages").required();
  manual.runs([folder, &line] {
    std::filesystem::create_directories(*folder);
    const CommandTree program = line.tree();
    write_pages(program, program, "", *folder);
    return static_cast<int>(kDone);
  });
}

}  // namespace sextant::cli
